package dual

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/rules"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

type thoughtArgs struct {
	ID        string `json:"id"`
	TaskID    string `json:"task_id"`
	Type      string `json:"type"`
	AgentID   string `json:"agent_id"`
	SessionID string `json:"session_id"`
	Content   string `json:"content"`
}

const typeSchema = `{"type":"string","enum":["plan","analysis","decision","reflection"]}`

// recorded is the result of thought_record.
type recorded struct {
	*rules.Record
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
	if rules.Blank(in.Content) {
		return nil, invalid("content", "must not be blank", notBlank)
	}
	r := &rules.Record{ID: cmp.Or(in.ID, workbench.NewUUID()), Type: in.Type, TaskID: in.TaskID, AgentID: in.AgentID, Content: in.Content}
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
			return alteredRecord(head)
		}
		r.Timestamp = s.stamp()
		r.Link(head)
		return tx.InsertThought(r)
	})
	if errors.Is(err, store.ErrUnique) {
		return nil, advised(dualcode.UniqueViolation, "A record with this id exists already.", "Leave id out, or choose another one; thought_record_list shows the records.", map[string]any{"id": r.ID})
	}
	if err != nil {
		return nil, err
	}
	if out.SessionID == "" {
		out.Warning = unboundWarning
	}
	if !s.attest(ctx, c, r) {
		out.Warning = strings.TrimSpace(out.Warning + " The ledger does not attest this record yet; the server tries again with the next record.")
	}
	return out, nil
}

// alteredRecord is the error for a record that does not have its hash. A record after it would confirm it.
func alteredRecord(r *rules.Record) error {
	return failure(dualcode.HandlerError, fmt.Sprintf("Record %s was changed after it was recorded; audit_verify_chain lists all faults.", r.ID), nil)
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
		return "", "", advised(dualcode.AlreadyFinalized, "The session is finalized and takes no more records.",
			"Leave session_id out to use the open session, or start another one with audit_session_start.", nil)
	case session.TaskID != "" && session.TaskID != in.TaskID:
		return "", "", invalid("session_id", "the session takes only records of the task "+session.TaskID, nil)
	}
	return session.ID, "argument", nil
}

type thoughtListArgs struct {
	TaskID    string `json:"task_id"`
	AgentID   string `json:"agent_id"`
	SessionID string `json:"session_id"`
	Type      string `json:"type"`
	After     int64  `json:"after"`
	Limit     int    `json:"limit"`
}

func (s *System) thoughtRecordList() workbench.Tool {
	return query(s, workbench.Tool{
		Name: "thought_record_list", Title: "List thought records",
		About: "List thought records in the order in which they were recorded. If more is true, call again with after set to next_after.",
		Input: `{"task_id":` + property(uuidSchema, "Only records of this task.") + `,
"agent_id":` + property(agentSchema, "Only records of this agent.") + `,
"session_id":` + property(sessionSchema, "Only records of this audit session.") + `,
"type":` + typeSchema + `,
"after":` + property(numberSchema, "next_after of the answer before.") + `,
"limit":` + limitSchema + `}`,
		Codes: []candor.Code{dualcode.NotFound, dualcode.SessionNotFound},
	}, listThoughts)
}

func listThoughts(tx *store.Tx, in thoughtListArgs) (any, error) {
	if in.TaskID != "" {
		if _, err := findTask(tx, in.TaskID); err != nil {
			return nil, err
		}
	}
	if in.SessionID != "" {
		if _, err := findSession(tx, in.SessionID); err != nil {
			return nil, err
		}
	}
	all, last, more, size := []rules.Record{}, in.After, false, 0
	limit := cmp.Or(in.Limit, defaultEntries)
	filter := store.ThoughtFilter{TaskID: in.TaskID, AgentID: in.AgentID, SessionID: in.SessionID, Type: in.Type, After: in.After, Limit: limit + 1}
	err := tx.Thoughts(filter, func(number int64, r *rules.Record) error {
		if more = more || len(all) == limit || size > pageBytes; !more {
			all, last = append(all, *r), number
			size += len(r.Content)
		}
		return nil
	})
	return map[string]any{"records": all, "count": len(all), "more": more, "next_after": last}, err
}

type sessionStartArgs struct {
	SessionID string `json:"session_id"`
	TaskID    string `json:"task_id"`
	AgentID   string `json:"agent_id"`
}

func (s *System) auditSessionStart() workbench.Tool {
	return workbench.Tool{
		Name: "audit_session_start", Title: "Start an audit session",
		About: "Start a session. Thought records are bound to it until merkle_finalize closes it. With task_id it takes records of that task only.",
		Input: `{"session_id":` + property(sessionSchema, "An id of your choice; one is made if it is not given.") + `,
"task_id":` + property(uuidSchema, "The task whose records the session takes; all tasks if not given.") + `,
"agent_id":` + property(agentSchema, "Who starts it.") + `}`,
		Codes: []candor.Code{dualcode.SessionExists, dualcode.NotFound, dualcode.DBBusy, dualcode.DBFull},
		Run: handle(func(ctx context.Context, _ *workbench.Call, in sessionStartArgs) (any, error) {
			session := &store.Session{Session: rules.Session{ID: cmp.Or(in.SessionID, workbench.NewUUID()), TaskID: in.TaskID, AgentID: in.AgentID, BegunAt: s.stamp()}}
			err := s.store.Update(ctx, func(tx *store.Tx) error {
				if in.TaskID != "" {
					if _, err := findTask(tx, in.TaskID); err != nil {
						return err
					}
				}
				return tx.InsertSession(session)
			})
			if errors.Is(err, store.ErrUnique) {
				return nil, failure(dualcode.SessionExists, "", nil)
			}
			return session, err
		}),
	}
}

// findSession returns a session, or ERR_SESSION_NOT_FOUND.
func findSession(tx *store.Tx, id string) (*store.Session, error) {
	session, err := tx.Session(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, failure(dualcode.SessionNotFound, "", nil)
	}
	return session, err
}

type sessionArgs struct {
	SessionID string `json:"session_id"`
	RecordID  string `json:"record_id"`
	Abandon   bool   `json:"abandon"`
}

// rooted is the result of merkle_finalize and merkle_root.
type rooted struct {
	*store.Session
	Ledger *store.Position `json:"ledger,omitempty"` // position of the root in the ledger
	Record *rules.Record   `json:"record,omitempty"`
	Proof  *rules.Proof    `json:"proof,omitempty"`
}

func (s *System) merkleFinalize() workbench.Tool {
	return workbench.Tool{
		Name: "merkle_finalize", Title: "Finalise an audit session",
		About: "Close a session and compute the Merkle root over its thought records. This happens once; afterwards the session takes no more records.",
		Input: `{"session_id":` + property(sessionSchema, "The id of the session.") + `,
"abandon":{"type":"boolean","description":"Remove an open session without records in place of finalising it."}}`, Required: []string{"session_id"},
		Codes: []candor.Code{dualcode.SessionNotFound, dualcode.AlreadyFinalized, dualcode.NoRecords, dualcode.DBBusy, dualcode.DBFull},
		Run: handle(func(ctx context.Context, c *workbench.Call, in sessionArgs) (any, error) {
			var session *store.Session
			err := s.store.Update(ctx, func(tx *store.Tx) (err error) {
				if session, err = findSession(tx, in.SessionID); err != nil {
					return err
				}
				return s.finalize(tx, session, in.Abandon)
			})
			if err != nil {
				return nil, err
			}
			if in.Abandon {
				return map[string]any{"session_id": in.SessionID, "abandoned": true}, nil
			}
			return rooted{Session: session, Ledger: s.attestRoot(ctx, c, session)}, nil
		}),
	}
}

// finalize computes and stores the root of an open session, or removes one without records.
func (s *System) finalize(tx *store.Tx, session *store.Session, abandon bool) error {
	if session.Finalized() {
		return failure(dualcode.AlreadyFinalized, "", nil)
	}
	var tree rules.Tree
	err := tx.Thoughts(store.ThoughtFilter{SessionID: session.ID}, func(_ int64, r *rules.Record) error {
		if r.Sum() != r.Hash {
			return alteredRecord(r)
		}
		return tree.Add(r.Hash)
	})
	if err != nil {
		return err
	}
	switch {
	case abandon && tree.Size() > 0:
		return invalid("abandon", "the session has records; finalise it", map[string]any{"const": false})
	case abandon:
		return tx.DeleteSession(session.ID)
	case tree.Size() == 0:
		return failure(dualcode.NoRecords, "", nil)
	}
	if session.Root, err = tree.Root(); err != nil {
		return err
	}
	session.FinalizedAt, session.Records = s.stamp(), tree.Size()
	return tx.FinalizeSession(session.ID, session.Root, session.Records, session.FinalizedAt)
}

func (s *System) merkleRoot() workbench.Tool {
	return query(s, workbench.Tool{
		Name: "merkle_root", Title: "Root of an audit session",
		About:    "Return the root of a finalised session. With record_id the answer holds that record and the proof that the root covers it.",
		Input:    `{"session_id":` + property(sessionSchema, "The id of the session.") + `,"record_id":` + property(uuidSchema, "A record to prove.") + `}`,
		Required: []string{"session_id"}, Codes: []candor.Code{dualcode.NotFinalized, dualcode.NotFound},
	}, rootOf)
}

func rootOf(tx *store.Tx, in sessionArgs) (any, error) {
	session, err := tx.Session(in.SessionID)
	switch {
	case errors.Is(err, store.ErrNotFound): // the original has one code for both
		return nil, advised(dualcode.NotFinalized, "No session has this id, so none is finalized.",
			"Start a session with audit_session_start, record thoughts, and close it with merkle_finalize; server_health lists the open sessions.", map[string]any{"reason": "unknown_session"})
	case err != nil:
		return nil, err
	case !session.Finalized():
		return nil, failure(dualcode.NotFinalized, "", nil)
	}
	tree, records, err := treeOf(tx, session)
	if err != nil {
		return nil, err
	}
	if fault := faultOf(tree, session); fault != "" {
		return nil, failure(dualcode.HandlerError, "The records of the session are not those that it was finalised with; audit_verify_chain lists all faults.", nil)
	}
	out := rooted{Session: session}
	if session.Position.Chain != "" {
		out.Ledger = &session.Position
	}
	if in.RecordID == "" {
		return out, nil
	}
	index := slices.Index(records, in.RecordID)
	if index < 0 {
		return nil, advised(dualcode.NotFound, "No record of this session has this id.", "List the records of the session with thought_record_list and use the id of one of them.", nil)
	}
	if out.Proof, err = tree.Prove(int64(index)); err != nil {
		return nil, err
	}
	out.Record, err = tx.Thought(in.RecordID)
	return out, err
}

// treeOf returns the tree over the records of a session as they are now, and the ids of the records.
func treeOf(tx *store.Tx, session *store.Session) (tree *rules.Tree, ids []string, err error) {
	tree = &rules.Tree{}
	err = tx.Thoughts(store.ThoughtFilter{SessionID: session.ID}, func(_ int64, r *rules.Record) error {
		ids = append(ids, r.ID)
		return tree.Add(r.Sum())
	})
	return tree, ids, err
}

// faultOf returns why a tree is not the one that a session was finalised with, or "".
func faultOf(tree *rules.Tree, session *store.Session) string {
	root, err := tree.Root()
	switch {
	case tree.Size() == 0:
		return "it has no records any more"
	case err != nil || root != session.Root || tree.Size() != session.Records:
		return "its records are not those that it was finalised with"
	}
	return ""
}
