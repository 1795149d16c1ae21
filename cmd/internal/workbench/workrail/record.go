package workrail

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/run"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
)

// The kinds of events in a session.
const (
	eventStarted  = "run_started"
	eventAdvanced = "step_advanced"
	eventBlocked  = "step_blocked"
)

// runStarted is the first event of a session.
type runStarted struct {
	Workflow string         `json:"workflow"`
	Name     string         `json:"name"`
	Hash     string         `json:"hash"` // of the workflow, which is stored as a snapshot
	Goal     string         `json:"goal,omitempty"`
	Context  map[string]any `json:"context"`
	Position run.Position   `json:"position"`
	Next     *stepView      `json:"next,omitempty"` // nil if there are no steps to do
}

// stepAdvanced records that a step was completed.
type stepAdvanced struct {
	attempted
	Notes    string          `json:"notes,omitempty"`
	Output   json.RawMessage `json:"output,omitempty"`
	Set      map[string]any  `json:"set,omitempty"` // keys of the context that were given
	Position run.Position    `json:"position"`
	Next     *stepView       `json:"next,omitempty"` // nil if the run is completed
}

// stepBlocked records that an attempt to complete a step was not accepted.
type stepBlocked struct {
	attempted
	Blockers []blocker `json:"blockers"`
}

// attempted is the attempt that an event is about.
type attempted struct {
	Node    uint32 `json:"node"`
	Attempt uint16 `json:"attempt"`
	Step    string `json:"step"`   // its path
	Digest  string `json:"digest"` // of the content of the call
}

// outcome locates the recorded answer to one attempt.
type outcome struct {
	event  uint64
	digest string
}

// node is a point between two steps: the attempts that were blocked there, and the attempt that completed the step.
type node struct {
	blocked []outcome
	done    outcome
}

// sessionState is the state of a session, folded from its events. It grows by a few bytes per step.
type sessionState struct {
	start   runStarted
	began   time.Time
	updated time.Time

	context  map[string]any
	position run.Position
	next     *stepView
	nodes    []node    // completed nodes
	blocked  []outcome // blocked attempts at the current node
	blockers []blocker // of the last blocked attempt
}

// node returns the number of the current node.
func (s *sessionState) node() uint32 { return uint32(len(s.nodes)) } //nolint:gosec // far below

// completed reports whether all steps are completed.
func (s *sessionState) completed() bool { return s.next == nil }

// fold applies an event.
func fold(s *sessionState, e session.Event) error {
	if (e.Index == 1) != (e.Kind == eventStarted) {
		return fmt.Errorf("unexpected event %s", e.Kind)
	}
	s.updated = e.At
	switch e.Kind {
	case eventStarted:
		if err := decode(e.Data, &s.start); err != nil {
			return err
		}
		s.began, s.context, s.position, s.next = e.At, s.start.Context, s.start.Position, s.start.Next
		return nil
	case eventAdvanced:
		var a stepAdvanced
		if err := decode(e.Data, &a); err != nil {
			return err
		}
		if err := s.check(a.attempted); err != nil {
			return err
		}
		s.nodes = append(s.nodes, node{blocked: s.blocked, done: outcome{e.Index, a.Digest}})
		s.blocked, s.blockers = nil, nil
		s.context = merged(s.context, a.Set)
		s.position, s.next = a.Position, a.Next
		return nil
	case eventBlocked:
		var b stepBlocked
		if err := decode(e.Data, &b); err != nil {
			return err
		}
		if err := s.check(b.attempted); err != nil {
			return err
		}
		s.blocked, s.blockers = append(s.blocked, outcome{e.Index, b.Digest}), b.Blockers
		return nil
	default:
		return fmt.Errorf("unknown event %s", e.Kind)
	}
}

// check returns an error if an attempt is not the next one.
func (s *sessionState) check(a attempted) error {
	if a.Node != s.node() || int(a.Attempt) != len(s.blocked) || s.completed() {
		return fmt.Errorf("step %s was attempted at node %d, attempt %d, but the session is at node %d, attempt %d",
			a.Step, a.Node, a.Attempt, s.node(), len(s.blocked))
	}
	return nil
}

// decode decodes JSON and keeps numbers unchanged.
func decode(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(v)
}

// merged returns a context with keys set. Null removes a key.
func merged(context, set map[string]any) map[string]any {
	if len(set) == 0 {
		return context
	}
	result := maps.Clone(context)
	if result == nil {
		result = map[string]any{}
	}
	for key, value := range set {
		if value == nil {
			delete(result, key)
			continue
		}
		result[key] = value
	}
	return result
}
