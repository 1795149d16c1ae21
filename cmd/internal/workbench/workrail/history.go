package workrail

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
)

// State is the state of a session.
type State string

// The states of a session.
const (
	StateOpen      State = "open"      // a step is pending
	StateBlocked   State = "blocked"   // a step is pending, and the last attempt at it was blocked
	StateCompleted State = "completed" // all steps are completed
	StateDamaged   State = "damaged"   // it is not healthy, or cannot be read
)

// Info describes a session. For a damaged session it is based on the sound events.
type Info struct {
	Summary
	State    State           `json:"state"`
	Title    string          `json:"stepTitle,omitempty"`
	Attempts int             `json:"blockedAttempts,omitempty"` // consecutive blocked attempts at the pending step
	Blockers []Blocker       `json:"blockers,omitempty"`        // of the last blocked attempt
	Reason   *session.Reason `json:"reason,omitempty"`          // why it is damaged
	Problem  string          `json:"problem,omitempty"`         // why it could not be read
	Hash     string          `json:"workflowHash,omitempty"`
}

// Blocker is one reason why a step cannot be completed.
type Blocker = blocker

// Session describes one session.
func (a *Admin) Session(ctx context.Context, id string) (Info, error) {
	var info Info
	if err := ctx.Err(); err != nil {
		return info, err
	}
	err := a.s.sessions.View(ctx, id, func(v *sessionState) error {
		info = infoOf(id, v)
		return nil
	})
	if err == nil || errors.Is(err, session.ErrNotFound) || ctx.Err() != nil {
		return info, err
	}
	left, salvaged := a.s.sessions.Salvage(id)
	if salvaged == nil {
		v, _ := foldAll(left.Sound)
		info = infoOf(id, v)
	}
	info.ID, info.State, info.Health = id, StateDamaged, ""
	if damage, ok := errors.AsType[*session.UnhealthyError](err); ok {
		info.Health, info.Reason = damage.Health.Kind, damage.Health.Reason
	} else {
		info.Problem = err.Error()
	}
	return info, nil
}

// foldAll folds events up to the first invalid one, and returns the number of valid events.
func foldAll(events []session.Event) (*sessionState, int) {
	v := &sessionState{}
	for i, e := range events {
		if fold(v, e) != nil {
			return v, i
		}
	}
	return v, len(events)
}

func infoOf(id string, v *sessionState) Info {
	info := Info{
		Summary: Summary{ID: id, Workflow: v.start.Workflow, Goal: v.start.Goal, Completed: len(v.nodes), Began: v.began, Updated: v.updated,
			Health: session.Healthy},
		State: StateCompleted, Hash: v.start.Hash, Attempts: len(v.blocked), Blockers: v.blockers,
	}
	if v.next != nil {
		info.Step, info.Title, info.State = v.next.Path, v.next.Title, StateOpen
	}
	for _, b := range v.blockers {
		info.Blocked = append(info.Blocked, b.Code)
		info.State = StateBlocked
	}
	return info
}

// History is the readable history of a session.
type History struct {
	Info
	Name     string           `json:"workflowName,omitempty"`
	Context  map[string]any   `json:"context,omitempty"`
	Steps    []PastStep       `json:"steps"`
	Pending  *StepView        `json:"pending,omitempty"`
	Tries    []BlockedAttempt `json:"attempts,omitempty"` // blocked attempts at the pending step
	Doubtful int              `json:"doubtfulEvents,omitempty"`
}

// StepView is a step as it is shown to an agent.
type StepView = stepView

// PastStep is a completed step.
type PastStep struct {
	Path    string           `json:"path"`
	Title   string           `json:"title,omitempty"`
	At      time.Time        `json:"completed"`
	Notes   string           `json:"notes,omitempty"`
	Output  json.RawMessage  `json:"output,omitempty"`
	Set     map[string]any   `json:"set,omitempty"` // keys of the context
	Blocked []BlockedAttempt `json:"blocked,omitempty"`
}

// BlockedAttempt is an attempt that did not complete its step.
type BlockedAttempt struct {
	At       time.Time `json:"at"`
	Blockers []Blocker `json:"blockers"`
}

// History reads a session, healthy or damaged.
func (a *Admin) History(ctx context.Context, id string) (*History, error) {
	info, err := a.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	h := &History{Info: info, Steps: []PastStep{}}
	left, err := a.s.sessions.Salvage(id)
	if err != nil {
		if info.Problem == "" {
			return nil, err
		}
		return h, nil // the problem explains why the history ends here
	}
	h.Doubtful = len(left.Doubtful) + left.Omitted
	v, sound := foldAll(left.Sound)
	h.Name, h.Context, h.Pending = v.start.Name, v.context, v.next
	title := ""
	if v.start.Next != nil {
		title = v.start.Next.Title
	}
	for _, e := range left.Sound[:sound] {
		title = h.add(e, title)
	}
	return h, nil
}

// add adds an event that was folded before, and returns the title of the step that is pending after it.
func (h *History) add(e session.Event, title string) string {
	switch e.Kind {
	case eventBlocked:
		var b stepBlocked
		_ = decode(e.Data, &b) // it was decoded before
		h.Tries = append(h.Tries, BlockedAttempt{e.At, b.Blockers})
	case eventAdvanced:
		var s stepAdvanced
		_ = decode(e.Data, &s) // as above
		h.Steps = append(h.Steps, PastStep{Path: s.Step, Title: title, At: e.At, Notes: s.Notes, Output: s.Output, Set: s.Set, Blocked: h.Tries})
		h.Tries, title = nil, ""
		if s.Next != nil {
			title = s.Next.Title
		}
	}
	return title
}

// Export holds all stored data of a session.
type Export struct {
	Format   int             `json:"format"` // 1
	ID       string          `json:"sessionId"`
	Exported time.Time       `json:"exported"`
	Info     Info            `json:"session"`
	Workflow json.RawMessage `json:"workflow,omitempty"` // as of the start of the session
	Snapshot string          `json:"workflowProblem,omitempty"`
	session.Salvage
	Leftovers []session.Leftover `json:"leftovers,omitempty"` // files that crashes left in the session's folder
}

// Export reads everything of a session, healthy or damaged.
func (a *Admin) Export(ctx context.Context, id string) (*Export, error) {
	info, err := a.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	left, err := a.s.sessions.Salvage(id)
	if err != nil {
		return nil, err
	}
	e := &Export{Format: 1, ID: id, Exported: a.now().UTC(), Info: info, Salvage: *left}
	if h := info.Reason; h != nil { // it also detects well-formed events with invalid content
		e.Health.Kind, e.Health.Reason = info.Health, h
	}
	e.Leftovers = a.s.sessions.LeftoversOf(id)
	if info.Hash == "" {
		return e, nil
	}
	w, err := a.s.snapshots.load(info.Hash)
	if err != nil {
		e.Snapshot = err.Error()
		return e, nil
	}
	e.Workflow, err = w.JSON()
	return e, err
}
