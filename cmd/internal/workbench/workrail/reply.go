package workrail

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/token"
)

// The kinds of an answer about a session.
const (
	kindStep      = "step"
	kindBlocked   = "blocked"
	kindCompleted = "completed"
)

// answer is the structured content of start_workflow, continue_workflow and resume_session.
type answer struct {
	Kind      string `json:"kind"`
	SessionID string `json:"sessionId"`
	Workflow  string `json:"workflowId"`
	Completed int    `json:"completedSteps"`

	Step     *stepView `json:"step,omitempty"`
	Continue string    `json:"continueToken,omitempty"`

	Blockers  *report `json:"blockers,omitempty"`
	Retryable bool    `json:"retryable,omitempty"`
	Retry     string  `json:"retryContinueToken,omitempty"`
	Note      string  `json:"note,omitempty"`

	Resume string  `json:"resumeToken"`
	Replay *replay `json:"replay,omitempty"`

	// Only for resume_session.
	Guidance []string `json:"guidance,omitempty"`
	Earlier  *earlier `json:"earlier,omitempty"`

	resumed bool // the reader may not know the step
}

// Notes of a blocked answer. Only an attempt that completes its step is kept.
const (
	blockedNote = "Nothing of this call was kept: send everything again, with these corrections."
	resumedNote = "The last attempt was blocked and nothing of it was kept: send everything that the step needs, with these corrections."
)

type report struct {
	Blockers []blocker `json:"blockers"`
}

// replay marks the answer to a token that was used before.
type replay struct {
	Recorded bool `json:"recorded"`
	// Differs is set if the notes, output or context of the call differ from the recorded ones. The new ones were not
	// used.
	Differs bool `json:"differs"`
	// Stale is set if the session has advanced since.
	Stale bool `json:"stale,omitempty"`
}

// reply renders an answer as text and as structured content.
func (a *answer) reply() workbench.Reply {
	var b strings.Builder
	if r := a.Replay; r != nil {
		b.WriteString("This token was used before; this is the recorded answer.")
		if r.Differs {
			b.WriteString(" Your call differs from the recorded one: its notes, output and context were NOT used.")
		}
		if r.Stale {
			b.WriteString(" The session has moved on since: call resume_session with the resumeToken for the current step.")
		}
		b.WriteString("\n\n")
	}
	switch a.Kind {
	case kindBlocked:
		a.writeBlocked(&b)
	case kindCompleted:
		fmt.Fprintf(&b, "The workflow %s is completed: %d steps.\n", a.Workflow, a.Completed)
	default:
		b.WriteString(a.Step.text())
		fmt.Fprintf(&b, "\ncontinueToken: %s\n", a.Continue)
	}
	fmt.Fprintf(&b, "resumeToken: %s\n", a.Resume)
	return workbench.Reply{Text: []string{b.String()}, Data: a}
}

func (a *answer) writeBlocked(b *strings.Builder) {
	if a.resumed {
		b.WriteString(a.Step.text() + "\n")
	}
	fmt.Fprintf(b, "Blocked: the step was not completed. %s %d to do:\n", a.Note, toDo(a.Blockers.Blockers))
	for _, one := range a.Blockers.Blockers {
		fmt.Fprintf(b, "- %s: %s %s\n", one.Code, one.Message, one.SuggestedFix)
	}
	fmt.Fprintf(b, "\nretryContinueToken: %s\n", a.Retry)
}

// begin returns an answer with the fields that all answers about a session have.
func (s *System) begin(id token.SessionID, v *sessionState) *answer {
	return &answer{SessionID: id.String(), Workflow: v.start.Workflow, Completed: len(v.nodes),
		Resume: s.keys.Mint(token.Token{Kind: token.Resume, Session: id})}
}

// current returns the reply with the position of a session.
func (s *System) current(id token.SessionID, v *sessionState) *answer {
	a := s.begin(id, v)
	next := token.Token{Kind: token.Continue, Session: id, Node: v.node(), Attempt: uint16(len(v.blocked))} //nolint:gosec // bounded by maxAttempts
	switch {
	case v.completed():
		a.Kind = kindCompleted
	case len(v.blocked) > 0:
		a.Kind, a.Step = kindBlocked, v.next
		a.Blockers, a.Retryable, a.Retry, a.Note = &report{v.blockers}, true, s.keys.Mint(next), blockedNote
	default:
		a.Kind, a.Step, a.Continue = kindStep, v.next, s.keys.Mint(next)
	}
	return a
}

// recorded returns the answer that was recorded for an earlier attempt.
func (s *System) recorded(ctx context.Context, id token.SessionID, v *sessionState, t token.Token, o outcome, digest string) (*answer, error) {
	e, err := s.sessions.Event(ctx, id.String(), o.event)
	if err != nil {
		return nil, err
	}
	a := s.begin(id, v)
	a.Replay = &replay{Recorded: true, Differs: o.digest != digest}
	if e.Kind == eventBlocked {
		var b stepBlocked
		if err := json.Unmarshal(e.Data, &b); err != nil {
			return nil, err
		}
		a.Kind, a.Blockers, a.Retryable, a.Note = kindBlocked, &report{b.Blockers}, true, blockedNote
		if a.Step, err = s.stepAt(ctx, id, v, t.Node); err != nil {
			return nil, err
		}
		a.Completed = int(b.Node)
		a.Retry = s.keys.Mint(token.Token{Kind: token.Continue, Session: id, Node: t.Node, Attempt: t.Attempt + 1})
		a.Replay.Stale = v.node() > t.Node || len(v.blocked) > int(t.Attempt)+1
		return a, nil
	}
	var done stepAdvanced
	if err := json.Unmarshal(e.Data, &done); err != nil {
		return nil, err
	}
	a.Completed = int(done.Node) + 1
	a.Replay.Stale = v.node() > t.Node+1 || len(v.blocked) > 0
	if done.Next == nil {
		a.Kind = kindCompleted
		return a, nil
	}
	a.Kind, a.Step = kindStep, done.Next
	a.Continue = s.keys.Mint(token.Token{Kind: token.Continue, Session: id, Node: t.Node + 1})
	return a, nil
}

// stepAt returns the step that was pending at a node.
func (s *System) stepAt(ctx context.Context, id token.SessionID, v *sessionState, node uint32) (*stepView, error) {
	switch {
	case node == v.node():
		return v.next, nil
	case node == 0:
		return v.start.Next, nil
	}
	e, err := s.sessions.Event(ctx, id.String(), v.nodes[node-1].done.event)
	if err != nil {
		return nil, err
	}
	var done stepAdvanced
	err = json.Unmarshal(e.Data, &done)
	return done.Next, err
}
