package workrail

import (
	"context"
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
	StateCanceled  State = "cancelled"
	StateDamaged   State = "damaged" // it is not healthy, or cannot be read
)

// Info describes a session. For a damaged session it is based on the sound events.
type Info struct {
	ID        string             `json:"sessionId"`
	Workflow  string             `json:"workflowId,omitempty"`
	Goal      string             `json:"goal,omitempty"`
	Folder    string             `json:"folder,omitempty"`
	Step      string             `json:"step,omitempty"` // the path of the pending one; empty if completed
	Completed int                `json:"completedSteps"`
	Blocked   []string           `json:"blockedBy,omitempty"` // codes
	Began     time.Time          `json:"began,omitzero"`
	Updated   time.Time          `json:"updated,omitzero"`
	Health    session.HealthKind `json:"health"`
	Resume    string             `json:"resumeToken,omitempty"`
	State     State              `json:"state"`
	Title     string             `json:"stepTitle,omitempty"`
	Attempts  int                `json:"blockedAttempts,omitempty"` // consecutive blocked attempts at the pending step
	Blockers  []blocker          `json:"blockers,omitempty"`        // of the last blocked attempt
	Reason    *session.Reason    `json:"reason,omitempty"`          // why it is damaged
	Problem   string             `json:"problem,omitempty"`         // why it could not be read
	Hash      string             `json:"workflowHash,omitempty"`
}

// Session describes one session.
func (s *System) Session(ctx context.Context, id string) (info Info, err error) {
	err = s.sessions.View(ctx, id, func(v *sessionState, _ []session.Event) error {
		info = infoOf(id, v)
		return nil
	})
	if err == nil || errors.Is(err, session.ErrNotFound) || ctx.Err() != nil {
		return info, err
	}
	if left, salvaged := s.sessions.Salvage(id); salvaged == nil {
		v := &sessionState{}
		for _, e := range left.Sound {
			_ = fold(v, e) // sound events can be folded
		}
		info = infoOf(id, v)
	}
	info.ID, info.State, info.Health = id, StateDamaged, "unreadable"
	if damage, ok := errors.AsType[*session.UnhealthyError](err); ok {
		info.Health, info.Reason = damage.Health.Kind, damage.Health.Reason
	} else {
		info.Problem = err.Error()
	}
	return info, nil
}

func infoOf(id string, v *sessionState) Info {
	info := Info{
		ID: id, Workflow: v.start.Workflow, Goal: v.start.Goal, Folder: v.start.Folder, Completed: len(v.done), Began: v.began, Updated: v.updated,
		Health: session.Healthy, State: StateCompleted, Hash: v.start.Hash, Attempts: len(v.blocked), Blockers: v.blockers,
	}
	if v.next != nil {
		info.Step, info.Title, info.State = v.next.Path, v.next.Title, StateOpen
	}
	for _, b := range v.blockers {
		info.Blocked = append(info.Blocked, b.Code)
		info.State = StateBlocked
	}
	if v.canceled != nil {
		info.State, info.Step = StateCanceled, ""
	}
	return info
}
