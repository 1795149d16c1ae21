package dual

import (
	"bytes"
	"context"
	"errors"

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
	Broken        []trail.Broken  `json:"broken,omitempty"` // the first 20
	Sessions      int             `json:"session_count"`    // finalised sessions whose root was computed again
	BrokenRoots   []BrokenSession `json:"broken_sessions,omitempty"`
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

// verify checks all records of a database, or those of a task, and the roots of sessions.
func verify(ctx context.Context, db *store.Store, dir, task string) (*Verification, error) {
	var v trail.Verifier
	out := &Verification{}
	// What was attested is read first: a record that is made meanwhile is in the database before it is in the ledger.
	attested, err := attestations(ctx, db, dir)
	if err != nil {
		return nil, err
	}
	err = db.View(ctx, func(tx *store.Tx) error {
		if task != "" {
			if _, err := findTask(tx, task); err != nil && len(attested[task]) == 0 {
				return err
			}
		}
		err := tx.Thoughts(store.ThoughtFilter{TaskID: task}, func(_ int64, r *trail.Record) error {
			v.Add(r)
			return nil
		})
		if err != nil {
			return err
		}
		return out.verifyRoots(tx, attested)
	})
	if err != nil {
		return nil, err
	}
	for of, anchors := range attested {
		if task != "" && of != task || of == "" {
			continue
		}
		for _, a := range anchors {
			v.Attested(*a.Thought)
			out.Attested++
		}
	}
	out.Records, out.Tasks = v.Count(), v.Tasks()
	out.Broken = v.Broken()
	out.BrokenCount = len(out.Broken) + len(out.BrokenRoots)
	out.Valid = out.BrokenCount == 0
	if len(out.Broken) > 0 {
		out.FirstBrokenAt = &out.Broken[0]
		out.Broken = out.Broken[:min(len(out.Broken), shownBroken)]
	}
	return out, nil
}

// verifyRoots computes the roots of finalised sessions again, and compares them with those that the ledger attests.
func (v *Verification) verifyRoots(tx *store.Tx, attested map[string][]export.Attestation) error {
	sessions, err := tx.Sessions(-1)
	if err != nil {
		return err
	}
	known := map[string]*store.Session{}
	for i := range sessions {
		session := &sessions[i]
		known[session.ID] = session
		if !session.Finalized() {
			continue
		}
		v.Sessions++
		reason, err := checkRoot(tx, session)
		if err != nil {
			return err
		}
		if reason != "" {
			v.BrokenRoots = append(v.BrokenRoots, BrokenSession{session.ID, reason})
		}
	}
	for _, a := range attested[""] {
		session := known[a.Session.ID]
		if session == nil || session.Root != a.Session.Root || session.Records != a.Session.Records || session.FinalizedAt != a.Session.FinalizedAt {
			v.BrokenRoots = append(v.BrokenRoots, BrokenSession{a.Session.ID, "the ledger attests another root"})
		}
	}
	return nil
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

// attestations reads from the ledger what it attests of a database: records by their task, and roots under the empty name. A record that
// was attested twice is returned once.
func attestations(ctx context.Context, db *store.Store, dir string) (map[string][]export.Attestation, error) {
	found := map[string][]export.Attestation{}
	if dir == "" {
		return found, nil
	}
	var id string
	err := db.View(ctx, func(tx *store.Tx) (err error) {
		id, err = tx.ID()
		return err
	})
	if err != nil {
		return nil, err
	}
	reader, err := ledger.OpenReader(dir)
	if err != nil {
		return nil, err
	}
	defer reader.Close() //nolint:errcheck // it was only read
	mark := []byte(`"` + export.Key + `":`)
	seen := map[trail.Anchor]bool{}
	for line, err := range reader.Entries(ctx, ledger.ReadOptions{Keep: func(l *ledger.Line) bool { return bytes.Contains(l.Raw(), mark) }}) {
		if err != nil {
			return nil, err
		}
		record, err := line.Record()
		if err != nil {
			return nil, err
		}
		a, ok := export.ReadAttestation(record.Data)
		switch {
		case !ok || a.Store != id:
		case a.Thought != nil && !seen[*a.Thought]:
			seen[*a.Thought] = true
			found[a.Thought.TaskID] = append(found[a.Thought.TaskID], a)
		case a.Session != nil:
			found[""] = append(found[""], a)
		}
	}
	return found, ctx.Err()
}
