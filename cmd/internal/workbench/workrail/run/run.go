// Package run walks through a workflow, one step at a time.
//
// It is a state machine without state: [Start] returns the [Position] of a new run, [Position.Pending] the step to do
// there, and [Advance] the position after that step. A position is a small, complete JSON value; the caller stores it.
// The same workflow, position and context always give the same result, no function does I/O, and the cost of a call
// does not depend on the number of completed steps.
//
// A context is a decoded JSON object, as package jsontext describes it. It may change between calls; a loop keeps the
// parts that it needs in the position. Every error is an [*Error].
package run

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/internal/truncate"
)

// Position is the position of a run. It belongs to one workflow, which the caller must keep with it, by
// [workflow.Workflow.Hash] for instance. The zero Position is that of a completed run; [Start] makes the first one.
type Position struct {
	Loops []Loop `json:"loops,omitempty"` // the loops around the pending step, the outermost first
	Step  string `json:"step,omitempty"`  // ID of the pending step; "" if the run is completed
}

// Loop is the position of a run in one loop.
type Loop struct {
	Step      string `json:"step"`            // ID of the step that has the loop
	Iteration int    `json:"iteration"`       // from 1
	Total     int    `json:"total,omitempty"` // iterations in all; 0 if a condition decides
	Items     string `json:"items,omitempty"` // digest of the first Total items of a list, to detect changes
}

// Completed reports whether no step is pending.
func (p Position) Completed() bool { return p.Step == "" && len(p.Loops) == 0 }

// Runs reports whether the step at a path is a loop that was entered and not left.
func (p Position) Runs(path string) bool {
	for i, l := range p.Loops {
		if (Position{Loops: p.Loops[:i], Step: l.Step}).Path() == path {
			return true
		}
	}
	return false
}

// Path returns the pending step with the loops around it and their iterations, such as "units[2].test". It is "" if the
// run is completed.
func (p Position) Path() string {
	var b strings.Builder
	for _, l := range p.Loops {
		b.WriteString(l.Step + "[" + strconv.Itoa(l.Iteration) + "].")
	}
	return b.String() + p.Step
}

// Start returns the position of a new run: its first step that is not skipped. The error is an [*Error], and a
// [KindMissingContext] if the context lacks keys that the workflow requires at the start.
func Start(w *workflow.Workflow, context map[string]any) (Position, error) {
	k := newWalker(w, context)
	var missing []string
	for _, key := range w.Context {
		if key.Required && !k.isSet(key.Key) {
			missing = append(missing, key.Key)
		}
	}
	if len(missing) > 0 {
		return Position{}, &Error{Kind: KindMissingContext, Keys: missing}
	}
	if err := k.seek(); err != nil {
		return Position{}, err
	}
	return k.position()
}

// Advance returns the position after the pending step, which the caller declares done. Steps with a condition that does
// not hold are skipped; loops are entered, repeated and left. The error is an [*Error]; the position is then p itself.
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

// Kind names the reason of an [Error], so that a switch over it can be checked for completeness.
type Kind string

// The kinds of errors. After all but the last two, the caller may change the context and try again from the same
// position.
const (
	// KindInvalidLoop is a loop that cannot run with this context: the value that it repeats over is not a list or not
	// a number, or the list has changed since the loop was entered.
	KindInvalidLoop Kind = "invalid_loop"
	// KindMissingContext is a context without required keys: at the start of the run if Step is empty, else to enter a
	// loop.
	KindMissingContext Kind = "missing_context"
	// KindConditionEvalFailed is a condition that cannot be evaluated with this context.
	KindConditionEvalFailed Kind = "condition_eval_failed"
	// KindMaxIterationsExceeded is a loop that has reached its limit and would continue.
	KindMaxIterationsExceeded Kind = "max_iterations_exceeded"
	// KindInvalidPosition is a position that does not belong to the workflow.
	KindInvalidPosition Kind = "invalid_position"
	// KindNoPendingStep is an attempt to advance a run that is completed.
	KindNoPendingStep Kind = "no_pending_step"
)

// Error is the error of every function of this package. Fields that do not belong to its kind are empty.
type Error struct {
	Kind   Kind
	Step   string   // ID of the step that has the loop or the condition
	Path   string   // such as "units[2].files"
	Key    string   // the context key of a loop; "" if the loop itself is wrong
	Keys   []string // missing ones, in the order of the workflow
	Reason string   // such as "want a list, got a string"
	Limit  int      // of a loop

	Eval *workflow.EvalError // of a condition; it names the key and what it must be
}

// Error returns the kind, the path and the reason.
func (e *Error) Error() string {
	text := string(e.Kind) + " " + e.Path
	if e.Eval != nil {
		return text + ": " + e.Eval.Error()
	}
	return strings.TrimSpace(text + " " + e.Key + strings.Join(e.Keys, ", ") + " " + e.Reason)
}

func invalidPosition(format string, args ...any) error {
	return &Error{Kind: KindInvalidPosition, Reason: fmt.Sprintf(format, args...)}
}

// The limits of values that are filled into prompts, in bytes.
const (
	MaxValueBytes  = 2 << 10  // of one value
	MaxValuesBytes = 16 << 10 // of all values of one prompt
)

// Pending is the step to do at a position.
type Pending struct {
	Step        *workflow.Step // belongs to the workflow; do not change it
	Path        string         // as [Position.Path]
	Iteration   int            // of the innermost loop, from 1; 0 outside of loops
	Total       int            // total iterations of that loop; 0 if unknown
	Prompt      string         // with the values of the context filled in
	Question    string         // the question for the user, filled in; "" if the step asks nothing
	Loop        *workflow.Loop // the innermost loop; nil outside of loops
	MissingKeys []string       // keys that the step requires and the context does not have
}

// Pending returns the step to do at the position; ok is false if the run is completed. The error is an [*Error].
//
// A step with MissingKeys should not be done yet. Advance does not check that.
func (p Position) Pending(w *workflow.Workflow, context map[string]any) (pending Pending, ok bool, err error) {
	if p.Completed() {
		return Pending{}, false, nil
	}
	k, err := restore(w, p, context)
	if err != nil {
		return Pending{}, false, err
	}
	top := k.top()
	step := &top.steps[top.at]
	pending = Pending{Step: step, Path: p.Path(), Iteration: top.state.Iteration, Total: top.state.Total, Prompt: k.fill(step.Prompt)}
	pending.MissingKeys = k.unset(step.Requires)
	if top.owner != nil {
		pending.Loop = top.owner.Loop
	}
	if q := step.AskUser; q != nil {
		pending.Question = k.fill(q.Question)
	}
	return pending, true, nil
}

// fill replaces the placeholders of a text with values of the context. Placeholders of keys that are not set are kept.
//
// Values come from the agent. Lines that begin inside a value are marked, so that they do not look like lines of the
// server.
func (k *walker) fill(text string) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	expand := k.expander()
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = marked(line, expand(line))
	}
	return strings.Join(lines, "\n")
}

// valueMark begins lines of a value.
const valueMark = "  | "

// marked returns a line of a text with its values filled in. It marks further lines of the values, and the first line
// if it looks like a line of the server only because of a value.
func marked(line, filled string) string {
	if filled == line {
		return line
	}
	filled = strings.ReplaceAll(filled, "\n", "\n"+valueMark)
	if first, _, _ := strings.Cut(filled, "\n"); looksLikeOurs(first) && !looksLikeOurs(line) {
		return valueMark + filled
	}
	return filled
}

// looksLikeOurs reports whether a line begins like one of those that the server adds to a step.
func looksLikeOurs(line string) bool {
	line = strings.ToLower(strings.TrimSpace(line))
	return line == "-" || slices.ContainsFunc([]string{"- ", "continuetoken", "resumetoken", "retrycontinuetoken"},
		func(start string) bool { return strings.HasPrefix(line, start) })
}

// expander returns a function that fills values into the lines of one text, which share one budget.
func (k *walker) expander() func(string) string {
	remaining := MaxValuesBytes
	value := func(key string) (string, bool) {
		v, _ := k.lookup(key, len(k.levels))
		if v == nil {
			return "", false
		}
		if remaining == 0 {
			return truncate.Mark, true
		}
		value := shorten(shorten(valueText(v), MaxValueBytes), remaining)
		remaining = max(remaining-len(value), 0)
		return value, true
	}
	return func(text string) string { return workflow.Expand(text, value) }
}

// valueText returns a string unchanged and any other value as JSON, without invisible and control characters. It
// returns little more than MaxValueBytes of a long text.
func valueText(v any) string {
	text, ok := v.(string)
	if !ok {
		data, err := jsontext.AppendCanonical(nil, v)
		if err != nil {
			return "(not JSON)"
		}
		text = string(data)
	}
	text = text[:min(len(text), MaxValueBytes+utf8.UTFMax)]
	return redact.Chars(text)
}

// shorten truncates a text to at most limit bytes, at a character boundary. It keeps at least an ellipsis, which is
// shorter than any placeholder.
func shorten(text string, limit int) string {
	const mark = " … (shortened)"
	if len(text) > limit && limit < len(mark) {
		return truncate.Mark
	}
	return truncate.WithMark(text, limit, mark)
}
