package dual

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/workbench"
	"github.com/candor-mcp/candor/workbench/dual/export"
	"github.com/candor-mcp/candor/workbench/dual/merkle"
	"github.com/candor-mcp/candor/workbench/dual/store"
	"github.com/candor-mcp/candor/workbench/dual/trail"
)

// Verification is what audit_verify_chain returns.
type Verification struct {
	Valid         bool            `json:"valid"`
	Records       int             `json:"record_count"`
	Tasks         int             `json:"task_count"`
	Attested      int             `json:"attested_count"` // records that were compared with the ledger
	BrokenCount   int             `json:"broken_count"`
	FirstBrokenAt *trail.Broken   `json:"first_broken_at,omitempty"`
	Broken        []trail.Broken  `json:"broken,omitempty"`          // the first 20
	Sessions      int             `json:"session_count"`             // finalised sessions whose root was computed again
	BrokenRoots   []BrokenSession `json:"broken_sessions,omitempty"` // the first 20
}

// BrokenSession is a finalised session whose records do not have its root any more.
type BrokenSession struct {
	ID     string `json:"session_id"`
	Reason string `json:"reason"`
}

const shownBroken = 20

type verifyArgs struct {
	TaskID string `json:"task_id"`
}

func (s *System) auditVerifyChain() workbench.Tool {
	return workbench.Tool{
		Name: "audit_verify_chain", Title: "Verify the thought records",
		About: "Verify the chain of each task, or of one, against its hashes and against what the ledger attests, and the roots of finalised sessions. valid is false if anything was changed or removed.",
		Input: `{"task_id":` + property(uuidSchema, "Only the records of this task.") + `}`, ReadOnly: true, Idempotent: true,
		Codes: []candor.Code{candor.CodeDualErrNotFound, candor.CodeDualDbBusy},
		Run: handle(func(ctx context.Context, c *workbench.Call, in verifyArgs) (any, error) {
			return verify(ctx, s.store, c.Bench().Ledger(), in.TaskID)
		}),
	}
}

// verification is one run of verify. What it keeps in memory does not grow with the database or the ledger.
type verification struct {
	db    *store.Store
	task  string // "" for all
	chain trail.Verifier
	last  int64 // the number of the newest record that was checked
	out   Verification

	brokenRoots int
}

// verify checks all records of a database, or those of a task, and the roots of sessions.
func verify(ctx context.Context, db *store.Store, dir, task string) (*Verification, error) {
	v := &verification{db: db, task: task}
	missing, err := v.records(ctx)
	if err != nil {
		return nil, err
	}
	if err := v.roots(ctx); err != nil {
		return nil, err
	}
	attested, err := v.ledger(ctx, dir)
	if err != nil {
		return nil, err
	}
	if missing != nil && attested == 0 {
		return nil, missing
	}
	v.out.Records, v.out.Tasks = v.chain.Count(), v.chain.Tasks()
	v.out.Broken = v.chain.Broken()
	v.out.BrokenCount = v.chain.Faults() + v.brokenRoots
	v.out.Valid = v.out.BrokenCount == 0
	if len(v.out.Broken) > 0 {
		v.out.FirstBrokenAt = &v.out.Broken[0]
	}
	return &v.out, nil
}

// records checks the chains. missing is the failure if the task does not exist; the ledger may still know records of it.
func (v *verification) records(ctx context.Context) (missing, err error) {
	err = v.db.View(ctx, func(tx *store.Tx) error {
		if v.task != "" {
			_, err := findTask(tx, v.task)
			if missing = asFailure(err); err != nil && missing == nil {
				return err
			}
		}
		return tx.Chains(v.task, func(number int64, r *trail.Record) error {
			v.last = max(v.last, number)
			v.chain.Add(r)
			return nil
		})
	})
	return missing, err
}

// asFailure returns an error that has a code; nil for others.
func asFailure(err error) error {
	var e *candor.Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// roots computes the roots of finalised sessions again, some at a time, so that no long transaction holds up the database.
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
	if !session.Finalized() {
		return nil
	}
	v.out.Sessions++
	reason, err := checkRoot(tx, session)
	if reason != "" {
		v.brokenRoot(session.ID, reason)
	}
	return err
}

// brokenRoot counts a session, once if it is among those that are shown.
func (v *verification) brokenRoot(id, reason string) {
	if slices.ContainsFunc(v.out.BrokenRoots, func(b BrokenSession) bool { return b.ID == id }) {
		return
	}
	v.brokenRoots++
	if len(v.out.BrokenRoots) < shownBroken {
		v.out.BrokenRoots = append(v.out.BrokenRoots, BrokenSession{id, reason})
	}
}

// checkRoot says why a session does not have its root; "" if it has.
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

// attested is an attestation and where the ledger has it.
type attested struct {
	export.Attestation
	at store.Place
}

// ledger compares the database with what the ledger attests, and returns how many attestations of records there are. They are read some at
// a time. The records of each batch are looked up after it was read: a record is in the database before it is in the ledger.
func (v *verification) ledger(ctx context.Context, dir string) (count int, err error) {
	if dir == "" {
		return 0, nil
	}
	batch := make([]attested, 0, pendingBatch)
	compare := func() error {
		err := v.db.View(ctx, func(tx *store.Tx) error { return v.compare(tx, batch) })
		batch = batch[:0]
		return err
	}
	err = attestations(ctx, v.db, dir, func(a attested) error {
		switch {
		case a.Thought != nil && v.task != "" && a.Thought.TaskID != v.task:
			return nil
		case a.Thought != nil:
			count++
		case a.Session == nil:
			return nil
		}
		if batch = append(batch, a); len(batch) < pendingBatch {
			return nil
		}
		return compare()
	})
	if err != nil {
		return count, err
	}
	return count, compare()
}

func (v *verification) compare(tx *store.Tx, batch []attested) error {
	for _, a := range batch {
		if a.Session != nil {
			if err := v.compareRoot(tx, a.Session); err != nil {
				return err
			}
			continue
		}
		found, err := tx.At(a.Thought.TaskID, a.Thought.Seq)
		if err != nil {
			return err
		}
		v.chain.Attested(*a.Thought, found.Hash)
		if found.Place == a.at && found.Number <= v.last { // a crash can leave two attestations of a record; the record has the place of one
			v.out.Attested++
		}
	}
	return nil
}

func (v *verification) compareRoot(tx *store.Tx, a *export.SessionRoot) error {
	session, err := tx.Session(a.ID)
	if errors.Is(err, store.ErrNotFound) {
		v.brokenRoot(a.ID, "the ledger attests its root, and it is gone")
		return nil
	}
	if err == nil && (session.Root != a.Root || session.Records != a.Records || session.FinalizedAt != a.FinalizedAt) {
		v.brokenRoot(a.ID, "the ledger attests another root")
	}
	return err
}

// attestations calls with for everything that a ledger attests of a database.
func attestations(ctx context.Context, db *store.Store, dir string, with func(attested) error) error {
	var id string
	err := db.View(ctx, func(tx *store.Tx) (err error) {
		id, err = tx.ID()
		return err
	})
	if err != nil {
		return err
	}
	reader, err := ledger.OpenReader(dir)
	if err != nil {
		return err
	}
	defer reader.Close() //nolint:errcheck // it was only read
	mark := []byte(`"` + export.Key + `":`)
	for line, err := range reader.Entries(ctx, ledger.ReadOptions{Keep: func(l *ledger.Line) bool { return bytes.Contains(l.Raw(), mark) }}) {
		if err != nil {
			return err
		}
		record, err := line.Record()
		if err != nil {
			return err
		}
		if record.Kind != ledger.KindSuccess { // which attestations are
			continue
		}
		if a, ok := export.ReadAttestation(record.Data); ok && a.Store == id {
			if err := with(attested{a, store.Place{Chain: record.Chain, Seq: record.Seq}}); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}
