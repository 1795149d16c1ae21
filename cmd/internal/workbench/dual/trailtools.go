package dual

import (
	"context"
	"errors"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/trail"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

type thoughtArgs struct {
	ID        string     `json:"id"`
	TaskID    string     `json:"task_id"`
	Type      trail.Type `json:"type"`
	AgentID   string     `json:"agent_id"`
	SessionID string     `json:"session_id"`
	Content   string     `json:"content"`
}

const typeSchema = `{"type":"string","enum":["plan","analysis","decision","reflection"]}`

// recorded is the result of thought_record.
type recorded struct {
	*trail.Record
	BoundBy string `json:"bound_by"` // argument, open_session or none
	Warning string `json:"warning,omitempty"`
}

const unboundWarning = "No audit session is open: this record belongs to none, and no session root will cover it. Start one with audit_session_start."

func (s *System) thoughtRecord() workbench.Tool {
	return workbench.Tool{
		Name: "thought_record", Title: "Record a thought",
		About: "Record a plan, an analysis, a decision or a reflection for a task. Without session_id it is bound to the open audit session, if there is one.",
		Input: `{"task_id":` + property(uuidSchema, "The id of the task.") + `,
"type":` + typeSchema + `,
"agent_id":` + property(agentSchema, "Who thinks.") + `,
"content":{"type":"string","minLength":1,"maxLength":65536},
"session_id":` + property(sessionSchema, "The audit session; the open one if not given.") + `,
"id":` + property(uuidSchema, "An id for the record, if you want to choose it; a second record with the same id is refused.") + `}`,
		Required: []string{"task_id", "type", "agent_id", "content"},
		Codes: []candor.Code{dualcode.NotFound, dualcode.SessionNotFound, dualcode.AlreadyFinalized, dualcode.UniqueViolation,
			dualcode.DBBusy, dualcode.DBFull},
		Run: handle(s.record),
	}
}

func (s *System) record(ctx context.Context, c *workbench.Call, in thoughtArgs) (any, error) {
	r := &trail.Record{ID: in.ID, Type: in.Type, TaskID: in.TaskID, AgentID: in.AgentID, Content: in.Content}
	if r.ID == "" {
		r.ID = workbench.NewUUID()
	}
	out := recorded{Record: r}
	err := s.store.Update(ctx, func(tx *store.Tx) error {
		if _, err := findTask(tx, in.TaskID); err != nil {
			return err
		}
		session, by, err := bind(tx, in)
		if err != nil {
			return err
		}
		out.BoundBy, r.SessionID = by, session
		head, err := tx.Head(in.TaskID)
		if err != nil {
			return err
		}
		if head != nil && (head.Seq < 1 || head.Sum() != head.Hash) {
			return &store.DamagedError{Table: "thoughts", Row: head.ID, Reason: "the last record of the task does not have its hash; audit_verify_chain lists all faults"}
		}
		r.Timestamp = stampNow(s)
		r.Link(head)
		return tx.InsertThought(r)
	})
	if errors.Is(err, store.ErrUnique) {
		return nil, failure(dualcode.UniqueViolation, "A record with this id exists already.", map[string]any{"id": r.ID})
	}
	if err != nil {
		return nil, err
	}
	if out.SessionID == "" {
		out.Warning = unboundWarning
	}
	s.attest(ctx, c, r)
	return out, nil
}

// bind returns the session for a new record.
func bind(tx *store.Tx, in thoughtArgs) (id, by string, err error) {
	if in.SessionID == "" {
		open, err := tx.OpenSession(in.TaskID, in.AgentID)
		if err != nil || open == nil {
			return "", "none", err
		}
		return open.ID, "open_session", nil
	}
	session, err := findSession(tx, in.SessionID)
	switch {
	case err != nil:
		return "", "", err
	case session.Finalized():
		return "", "", failure(dualcode.AlreadyFinalized, "The session is finalized and takes no more records.", nil)
	case session.TaskID != "" && session.TaskID != in.TaskID:
		return "", "", invalid("session_id", "the session is for another task")
	}
	return session.ID, "argument", nil
}

type thoughtListArgs struct {
	TaskID    string     `json:"task_id"`
	AgentID   string     `json:"agent_id"`
	SessionID string     `json:"session_id"`
	Type      trail.Type `json:"type"`
	After     int64      `json:"after"`
	Limit     int        `json:"limit"`
}

func (s *System) thoughtRecordList() workbench.Tool {
	return workbench.Tool{
		Name: "thought_record_list", Title: "List thought records",
		About: "List thought records in the order in which they were recorded. If more is true, call again with after set to next_after.",
		Input: `{"task_id":` + property(uuidSchema, "Only records of this task.") + `,
"agent_id":` + property(agentSchema, "Only records of this agent.") + `,
"session_id":` + property(sessionSchema, "Only records of this audit session.") + `,
"type":` + typeSchema + `,
"after":{"type":"integer","minimum":0,"description":"next_after of the answer before."},
"limit":` + limitSchema + `}`,
		ReadOnly: true, Idempotent: true, Codes: []candor.Code{dualcode.NotFound, dualcode.SessionNotFound, dualcode.DBBusy},
		Run: handle(s.listThoughts),
	}
}

func (s *System) listThoughts(ctx context.Context, _ *workbench.Call, in thoughtListArgs) (any, error) {
	all, last, more, size := []trail.Record{}, in.After, false, 0
	err := s.store.View(ctx, func(tx *store.Tx) error {
		if in.TaskID != "" {
			if _, err := findTask(tx, in.TaskID); err != nil {
				return err
			}
		}
		if in.SessionID != "" {
			if _, err := findSession(tx, in.SessionID); err != nil {
				return err
			}
		}
		limit := orDefault(in.Limit)
		filter := store.ThoughtFilter{TaskID: in.TaskID, AgentID: in.AgentID, SessionID: in.SessionID, Type: in.Type, After: in.After, Limit: limit + 1}
		return tx.Thoughts(filter, func(number int64, r *trail.Record) error {
			if more = more || len(all) == limit || size > pageBytes; !more {
				all, last = append(all, *r), number
				size += len(r.Content)
			}
			return nil
		})
	})
	return map[string]any{"records": all, "count": len(all), "more": more, "next_after": last}, err
}
