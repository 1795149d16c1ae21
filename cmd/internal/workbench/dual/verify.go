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

// Verification is the result of audit_verify_chain.
type Verification struct {
	Valid         bool            `json:"valid"`
	Records       int             `json:"record_count"`
	Tasks         int             `json:"task_count"`
	Attested      int             `json:"attested_count"` // records that were compared with the ledger
	BrokenCount   int             `json:"broken_count"`
	FirstBrokenAt *trail.Broken   `json:"first_broken_at,omitempty"`
	Broken        []trail.Broken  `json:"broken,omitempty"`          // the first 20
	Sessions      int             `json:"session_count"`             // finalised sessions whose root was recomputed
	BrokenRoots   []BrokenSession `json:"broken_sessions,omitempty"` // the first 20
	Other         []string        `json:"other_faults,omitempty"`    // of the database or the ledger as a whole, the first 20
}

// BrokenSession is a finalised session whose records no longer match its root.
type BrokenSession struct {
	ID     string `json:"session_id"`
	Reason string `json:"reason"`
}

const shownBroken = 20

// firstFault describes the first fault in one line, or returns "".
func (v *Verification) firstFault() string {
	switch {
	case len(v.Other) > 0:
		return v.Other[0]
	case len(v.Broken) > 0:
		return fmt.Sprintf("task %s, record %d: %s", v.Broken[0].TaskID, v.Broken[0].Seq, v.Broken[0].Fault)
	case len(v.BrokenRoots) > 0:
		return fmt.Sprintf("session %s: %s", v.BrokenRoots[0].ID, v.BrokenRoots[0].Reason)
	default:
		return ""
	}
}

type verifyArgs struct {
	TaskID string `json:"task_id"`
}

func (s *System) auditVerifyChain() workbench.Tool {
	return workbench.Tool{
		Name: "audit_verify_chain", Title: "Verify the thought records",
		About: "Verify the chain of each task, or of one, against its hashes and against what the ledger attests, and the roots of finalised sessions. valid is false if anything was changed or removed.",
		Input: `{"task_id":` + property(uuidSchema, "Only the records of this task.") + `}`, ReadOnly: true, Idempotent: true,
		Codes: []candor.Code{dualcode.NotFound, dualcode.DBBusy},
		Run: handle(func(ctx context.Context, c *workbench.Call, in verifyArgs) (any, error) {
			return verify(ctx, s.store, s.home(c.Bench()), in.TaskID)
		}),
	}
}

// verification is one run of verify. It keeps one bit for each record and session with a ledger position, and the first
// faults; no other memory grows with the database or the ledger.
type verification struct {
	db    *store.Store
	home  home
	task  string // "" for all
	chain trail.Verifier
	last  int64 // number of the newest record that was checked
	out   Verification

	claimed         numbers         // records with a ledger position
	claimedSessions numbers         // finalised sessions with a ledger position
	named           map[string]bool // digests of the sessions that the records of task belong to
	broken          map[string]bool // digests of broken sessions, so that each counts once
	brokenRoots     int
	others          int
	pruned          map[string]uint64 // number of entries that retention removed from the start of a ledger chain
}

// knownBroken is the maximum number of broken sessions that are remembered.
const knownBroken = 10000

// verify checks all records of a database and the roots of sessions. With a task it checks the records of the task, and
// the sessions that are for the task or have one of its records.
func verify(ctx context.Context, db *store.Store, h home, task string) (*Verification, error) {
	v := &verification{db: db, home: h, task: task, claimed: numbers{}, claimedSessions: numbers{}, named: map[string]bool{}, broken: map[string]bool{}}
	missing, err := v.records(ctx)
	if err != nil {
		return nil, err
	}
	if err := v.roots(ctx); err != nil {
		return nil, err
	}
	attested, err := v.ledger(ctx)
	if err != nil {
		return nil, err
	}
	if missing != nil && attested == 0 {
		return nil, missing
	}
	v.out.Records, v.out.Tasks = v.chain.Count(), v.chain.Tasks()
	v.out.Broken = v.chain.Broken()
	v.out.BrokenCount = v.chain.Faults() + v.brokenRoots + v.others
	v.out.Valid = v.out.BrokenCount == 0
	if len(v.out.Broken) > 0 {
		v.out.FirstBrokenAt = &v.out.Broken[0]
	}
	return &v.out, nil
}

// records checks the chains. missing is the error for a task that does not exist; the ledger may still have
// attestations of its records.
func (v *verification) records(ctx context.Context) (missing, err error) {
	err = v.db.View(ctx, func(tx *store.Tx) error {
		if v.task != "" {
			_, err := findTask(tx, v.task)
			if missing = asFailure(err); err != nil && missing == nil {
				return err
			}
		}
		return tx.Chains(v.task, func(number int64, r *trail.Record, attested bool) error {
			v.last = max(v.last, number)
			v.chain.Add(r)
			if attested {
				v.claimed.add(number)
			}
			if v.task != "" && r.SessionID != "" {
				v.named[store.Digest(r.SessionID)] = true
			}
			return nil
		})
	})
	return missing, err
}

// concerns reports whether a session has to be checked.
func (v *verification) concerns(task, digest string) bool {
	return v.task == "" || task == v.task || v.named[digest]
}

// asFailure returns err if it has a code, otherwise nil.
func asFailure(err error) error {
	var e *candor.Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// other counts a fault of the whole database or ledger.
func (v *verification) other(fault string) {
	v.others++
	if len(v.out.Other) < shownBroken {
		v.out.Other = append(v.out.Other, fault)
	}
}

// roots recomputes the roots of finalised sessions in batches, so that no long transaction blocks the database.
func (v *verification) roots(ctx context.Context) error {
	for before := int64(0); ; {
		var some []store.Session
		err := v.db.View(ctx, func(tx *store.Tx) (err error) {
			if some, before, err = tx.Sessions(before, pendingBatch); err != nil {
				return err
			}
			for i := range some {
				if err := v.root(tx, &some[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || len(some) < pendingBatch {
			return err
		}
	}
}

func (v *verification) root(tx *store.Tx, session *store.Session) error {
	if !v.concerns(session.TaskID, store.Digest(session.ID)) {
		return nil
	}
	if session.Position != (store.Position{}) {
		v.claimedSessions.add(session.Number)
	}
	if !session.Finalized() {
		return nil
	}
	v.out.Sessions++
	reason, err := checkRoot(tx, session)
	if reason != "" {
		v.brokenRoot(session.ID, store.Digest(session.ID), reason)
	}
	return err
}

// brokenRoot counts a broken session. Each session counts once, as long as no more than knownBroken are broken.
func (v *verification) brokenRoot(id, digest, reason string) {
	if v.broken[digest] {
		return
	}
	if len(v.broken) < knownBroken {
		v.broken[digest] = true
	}
	v.brokenRoots++
	if len(v.out.BrokenRoots) < shownBroken {
		v.out.BrokenRoots = append(v.out.BrokenRoots, BrokenSession{id, reason})
	}
}

// checkRoot returns why the records of a session do not match its root, "" if they do.
func checkRoot(tx *store.Tx, session *store.Session) (string, error) {
	var tree merkle.Tree
	err := tx.Thoughts(store.ThoughtFilter{SessionID: session.ID}, func(_ int64, r *trail.Record) error { return tree.Add(r.Sum()) })
	if err != nil {
		return "", err
	}
	root, err := tree.Root()
	switch {
	case errors.Is(err, merkle.ErrEmpty):
		return "all of its records are gone", nil
	case err != nil:
		return "", err
	case root != session.Root || tree.Size() != session.Records:
		return "its records are not those that it was finalised with", nil
	}
	return "", nil
}
