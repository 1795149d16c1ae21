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
	eventAnswered = "user_answered"
	eventRewound  = "step_rewound"
	eventCanceled = "session_cancelled"
)

// runStarted is the first event of a session.
type runStarted struct {
	Workflow string         `json:"workflow"`
	Name     string         `json:"name"`
	Hash     string         `json:"hash"` // of the workflow, which is stored as a snapshot
	Goal     string         `json:"goal,omitempty"`
	Folder   string         `json:"folder,omitempty"` // of the work
	Context  map[string]any `json:"context"`
	Position run.Position   `json:"position"`
	Next     *stepView      `json:"next,omitempty"` // nil if there are no steps to do
}

// stepAdvanced records that a step was completed.
type stepAdvanced struct {
	attempted
	Notes    string          `json:"notes,omitempty"`
	Output   json.RawMessage `json:"output,omitempty"`
	Set      map[string]any  `json:"set,omitempty"`    // keys of the context that were given
	Person   bool            `json:"person,omitempty"` // one of the keys is the answer of a person, asked by the client
	Position run.Position    `json:"position"`
	Next     *stepView       `json:"next,omitempty"` // nil if the run is completed
}

// userAnswered records the answer of a person to the question of the pending step.
type userAnswered struct {
	Node  uint32 `json:"node"`
	Key   string `json:"key"`
	Value any    `json:"value"`
	By    string `json:"by"`
}

// stepRewound records that the last completed step is to be done again, or that a cancelled session is opened again. It ends its node like a completed step, so that
// no token is valid twice.
type stepRewound struct {
	Node     uint32         `json:"node"`
	Step     string         `json:"step"` // the path of the step to be done again
	Position run.Position   `json:"position"`
	Context  map[string]any `json:"context"`
	Next     *stepView      `json:"next"`
}

// sessionCanceled records that a session was given up.
type sessionCanceled struct {
	Reason string `json:"reason,omitempty"`
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
	blocked   []outcome
	done      outcome
	completed int // steps after it
}

// sessionState is the state of a session, folded from its events. It grows by a few bytes per step.
type sessionState struct {
	start   runStarted
	began   time.Time
	updated time.Time

	context  map[string]any
	position run.Position
	next     *stepView
	nodes    []node   // nodes that were left, by a completed step or by rewinding
	done     []uint64 // the events of the completed steps, without those that were rewound
	answered bool     // a person has answered the question of the pending step
	canceled *sessionCanceled
	blocked  []outcome // blocked attempts at the current node
	blockers []blocker // of the last blocked attempt
}

// node returns the number of the current node.
func (s *sessionState) node() uint32 { return uint32(len(s.nodes)) } //nolint:gosec // far below

// completed reports whether all steps are completed.
func (s *sessionState) completed() bool { return s.next == nil }

// ended reports whether no step can be completed any more.
func (s *sessionState) ended() bool { return s.completed() || s.canceled != nil }

// leave ends the current node.
func (s *sessionState) leave(o outcome, position run.Position, next *stepView) {
	s.nodes = append(s.nodes, node{blocked: s.blocked, done: o, completed: len(s.done)})
	s.blocked, s.blockers, s.answered = nil, nil, false
	s.position, s.next = position, next
}

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
		s.context, s.done = merged(s.context, a.Set), append(s.done, e.Index)
		s.leave(outcome{e.Index, a.Digest}, a.Position, a.Next)
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
	case eventAnswered:
		var a userAnswered
		if err := decode(e.Data, &a); err != nil {
			return err
		}
		if a.Node != s.node() || s.ended() {
			return fmt.Errorf("node %d was answered, but the session is at node %d", a.Node, s.node())
		}
		s.context, s.answered = merged(s.context, map[string]any{a.Key: a.Value}), true
		return nil
	case eventRewound:
		var r stepRewound
		if err := decode(e.Data, &r); err != nil {
			return err
		}
		return s.rewind(e.Index, r)
	case eventCanceled:
		s.canceled = &sessionCanceled{}
		return decode(e.Data, s.canceled)
	default:
		return fmt.Errorf("unknown event %s", e.Kind)
	}
}

// rewind applies an event that goes back a step.
func (s *sessionState) rewind(event uint64, r stepRewound) error {
	if r.Node != s.node() || len(s.done) == 0 && s.canceled == nil || r.Next == nil {
		return fmt.Errorf("node %d was rewound, but the session is at node %d", r.Node, s.node())
	}
	if s.canceled == nil {
		s.done = s.done[:len(s.done)-1]
	}
	s.context, s.canceled = r.Context, nil
	s.leave(outcome{event: event}, r.Position, r.Next)
	return nil
}

// check returns an error if an attempt is not the next one.
func (s *sessionState) check(a attempted) error {
	if a.Node != s.node() || int(a.Attempt) != len(s.blocked) || s.ended() {
		return fmt.Errorf("step %s was attempted at node %d, attempt %d, but the session is at node %d, attempt %d",
			a.Step, a.Node, a.Attempt, s.node(), len(s.blocked))
	}
	return nil
}

// decode decodes JSON and keeps numbers unchanged.
func decode(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return session.JSONError(d.Decode(v))
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
