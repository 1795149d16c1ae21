package run

import (
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
)

// PositionVersion is the version of the JSON form of a [Position]. A position of another version is an [*InvalidPosition].
const PositionVersion = 1

// Position is the position of a run. It belongs to one workflow, which the caller must keep with it, by
// [workflow.Workflow.Hash] for instance. The zero Position is not valid; [Start] makes the first one.
type Position struct {
	Version int    `json:"v"`
	Loops   []Loop `json:"loops,omitempty"` // the loops around the pending step, the outermost first
	Step    string `json:"step,omitempty"`  // ID of the pending step; "" if the run is completed
}

// Loop is the position of a run in one loop.
type Loop struct {
	Step      string `json:"step"`            // ID of the step that has the loop
	Iteration int    `json:"iteration"`       // from 1
	Total     int    `json:"total,omitempty"` // iterations in all; 0 if a condition decides
	Items     string `json:"items,omitempty"` // digest of the first Total items of a list, to detect changes
}

// Completed reports whether no step is pending.
func (p Position) Completed() bool {
	return p.Version == PositionVersion && p.Step == "" && len(p.Loops) == 0
}

// Path returns the pending step with the loops around it and their iterations, such as "units[2].test". It is "" if the run
// is completed.
func (p Position) Path() string {
	var b strings.Builder
	for _, l := range p.Loops {
		b.WriteString(l.Step + "[" + strconv.Itoa(l.Iteration) + "].")
	}
	return b.String() + p.Step
}

// Start returns the position of a new run: its first step that is not skipped. The error is an [Error], and a
// [*MissingContext] if the context lacks keys that the workflow requires at the start.
func Start(w *workflow.Workflow, context map[string]any) (Position, error) {
	k, err := newWalker(w, context)
	if err != nil {
		return Position{}, err
	}
	var missing []string
	for _, key := range w.Context {
		if key.Required && !k.isSet(key.Key) {
			missing = append(missing, key.Key)
		}
	}
	if len(missing) > 0 {
		return Position{}, &MissingContext{Keys: missing}
	}
	if err := k.seek(); err != nil {
		return Position{}, err
	}
	return k.position()
}

// Advance returns the position after the pending step, which the caller declares done. Steps whose condition does not hold
// are skipped; loops are entered, repeated and left. The error is an [Error]; the position is then p itself.
func Advance(w *workflow.Workflow, p Position, context map[string]any) (Position, error) {
	k, err := restore(w, p, context)
	if err != nil {
		return p, err
	}
	k.top().at++
	if err := k.seek(); err != nil {
		return p, err
	}
	next, err := k.position()
	if err != nil {
		return p, err
	}
	return next, nil
}
