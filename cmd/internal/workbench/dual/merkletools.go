package dual

import (
	"context"
	"errors"
	"fmt"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/merkle"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/trail"
	dualcode "github.com/candor-mcp/candor/codes/dual"
)

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
			session := &store.Session{ID: in.SessionID, TaskID: in.TaskID, AgentID: in.AgentID, BegunAt: stampNow(s)}
			if session.ID == "" {
				session.ID = workbench.NewUUID()
			}
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
}

// rooted is the result of merkle_finalize and merkle_root.
type rooted struct {
	*store.Session
	Ledger *store.Position `json:"ledger,omitempty"` // position of the root in the ledger
	Record *trail.Record   `json:"record,omitempty"`
	Proof  *merkle.Proof   `json:"proof,omitempty"`
}

func (s *System) merkleFinalize() workbench.Tool {
	return workbench.Tool{
		Name: "merkle_finalize", Title: "Finalise an audit session",
		About: "Close a session and compute the Merkle root over its thought records. This happens once; afterwards the session takes no more records.",
		Input: `{"session_id":` + property(sessionSchema, "The id of the session.") + `}`, Required: []string{"session_id"},
		Codes: []candor.Code{dualcode.SessionNotFound, dualcode.AlreadyFinalized, dualcode.NoRecords, dualcode.DBBusy, dualcode.DBFull},
		Run: handle(func(ctx context.Context, c *workbench.Call, in sessionArgs) (any, error) {
			var session *store.Session
			err := s.store.Update(ctx, func(tx *store.Tx) (err error) {
				if session, err = findSession(tx, in.SessionID); err != nil {
					return err
				}
				return s.finalize(tx, session)
			})
			if err != nil {
				return nil, err
			}
			return rooted{Session: session, Ledger: s.attestRoot(ctx, c, session)}, nil
		}),
	}
}

// finalize computes and stores the root of an open session.
func (s *System) finalize(tx *store.Tx, session *store.Session) error {
	if session.Finalized() {
		return failure(dualcode.AlreadyFinalized, "", nil)
	}
	var tree merkle.Tree
	err := eachHash(tx, session.ID, tree.Add)
	if err != nil {
		return err
	}
	session.Root, err = tree.Root()
	if errors.Is(err, merkle.ErrEmpty) {
		return failure(dualcode.NoRecords, "", nil)
	}
	if err != nil {
		return err
	}
	session.FinalizedAt, session.Records = stampNow(s), tree.Size()
	return tx.FinalizeSession(session.ID, session.Root, session.Records, session.FinalizedAt)
}

// eachHash calls add with the hashes of the records of a session. It returns an error if a record was changed.
func eachHash(tx *store.Tx, session string, add func(hash string) error) error {
	return tx.Thoughts(store.ThoughtFilter{SessionID: session}, func(_ int64, r *trail.Record) error {
		if r.Sum() != r.Hash {
			return failure(dualcode.HandlerError, fmt.Sprintf("Record %s was changed after it was recorded; audit_verify_chain lists what is broken.", r.ID), nil)
		}
		return add(r.Hash)
	})
}

func (s *System) merkleRoot() workbench.Tool {
	return workbench.Tool{
		Name: "merkle_root", Title: "Root of an audit session",
		About:    "Return the root of a finalised session. With record_id the answer holds that record and the proof that the root covers it.",
		Input:    `{"session_id":` + property(sessionSchema, "The id of the session.") + `,"record_id":` + property(uuidSchema, "A record to prove.") + `}`,
		Required: []string{"session_id"}, ReadOnly: true, Idempotent: true,
		Codes: []candor.Code{dualcode.SessionNotFound, dualcode.NotFinalized, dualcode.NotFound, dualcode.DBBusy},
		Run: handle(func(ctx context.Context, _ *workbench.Call, in sessionArgs) (any, error) {
			return store.Get(ctx, s.store, func(tx *store.Tx) (rooted, error) { return rootOf(tx, in) })
		}),
	}
}

func rootOf(tx *store.Tx, in sessionArgs) (out rooted, err error) {
	if out.Session, err = findSession(tx, in.SessionID); err != nil {
		return out, err
	}
	if !out.Finalized() {
		return out, failure(dualcode.NotFinalized, "", nil)
	}
	if out.Position.Chain != "" {
		out.Ledger = &out.Position
	}
	if in.RecordID == "" {
		reason, err := checkRoot(tx, out.Session)
		if reason != "" {
			err = alteredSession()
		}
		return out, err
	}
	if out.Proof, err = proofOf(tx, out.Session, in.RecordID); err != nil {
		return out, err
	}
	out.Record, err = tx.Thought(in.RecordID)
	return out, err
}

// proofOf returns the proof that the root of a session covers one of its records.
func proofOf(tx *store.Tx, session *store.Session, record string) (*merkle.Proof, error) {
	index, err := tx.IndexIn(session.ID, record)
	if errors.Is(err, store.ErrNotFound) {
		return nil, failure(dualcode.NotFound, "No record of this session has this id.", nil)
	}
	if err != nil {
		return nil, err
	}
	prover, err := merkle.NewProver(index, session.Records)
	if err != nil {
		return nil, alteredSession()
	}
	if err := eachHash(tx, session.ID, prover.Add); err != nil {
		return nil, err
	}
	if root, err := prover.Root(); err != nil || root != session.Root {
		return nil, alteredSession()
	}
	proof, err := prover.Proof()
	return &proof, err
}

// alteredSession is the error for a session whose records do not match its root.
func alteredSession() error {
	return failure(dualcode.HandlerError, "The records of the session are not those that it was finalised with; audit_verify_chain lists what is broken.", nil)
}
