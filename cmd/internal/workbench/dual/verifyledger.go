package dual

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/export"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	"github.com/candor-mcp/candor/ledger"
	ledgerverify "github.com/candor-mcp/candor/ledger/verify"
)

// attested is an attestation and its position in the ledger.
type attested struct {
	export.Attestation
	at store.Position
}

// ledger compares the database with the attestations of the ledger, in both directions, and returns the number of
// attestations of records. It reads attestations in batches and looks up the records of each batch after reading it: a
// record is in the database before it is in the ledger, and in the ledger before the database has its position.
func (v *verification) ledger(ctx context.Context) (count int, err error) {
	if v.home.ledger == "" {
		return 0, nil
	}
	id, err := v.storeID(ctx)
	if err != nil {
		return 0, err
	}
	if err := v.ledgerDamage(ctx); err != nil {
		return 0, err
	}
	stores := stores{}
	batch := make([]attested, 0, pendingBatch)
	compare := func() error {
		err := v.db.View(ctx, func(tx *store.Tx) error { return v.compare(tx, batch) })
		batch = batch[:0]
		return err
	}
	err = attestations(ctx, v.home.ledger, func(a attested) error {
		stores.add(a.Attestation)
		if a.Store != id || !v.concernsAttestation(&a.Attestation) {
			return nil
		}
		if a.Thought != nil {
			count++
		}
		if batch = append(batch, a); len(batch) < pendingBatch {
			return nil
		}
		return compare()
	})
	if err != nil {
		return count, err
	}
	if err := compare(); err != nil {
		return count, err
	}
	if gone := stores.missing(id, v.home.digest); gone != "" {
		v.other(errOtherStore(gone).Error())
	}
	return count, v.unproven(ctx)
}

// storeID returns the id of the database; "" if it was removed.
func (v *verification) storeID(ctx context.Context) (string, error) {
	id, err := store.Get(ctx, v.db, (*store.Tx).ID)
	if errors.Is(err, store.ErrNotFound) {
		v.other("the id of the database was removed")
		return "", nil
	}
	return id, err
}

// ledgerDamage verifies the ledger itself, because removed entries attest nothing.
func (v *verification) ledgerDamage(ctx context.Context) error {
	report, err := ledgerverify.Dir(ctx, v.home.ledger, ledgerverify.Options{})
	if err != nil {
		return err
	}
	for _, h := range report.Damage {
		v.other("the ledger is damaged: " + h.String())
	}
	v.pruned = map[string]uint64{}
	for i := range report.Chains {
		v.pruned[report.Chains[i].Chain] = report.Chains[i].Pruned
	}
	return nil
}

// concernsAttestation reports whether an attestation belongs to the verification.
func (v *verification) concernsAttestation(a *export.Attestation) bool {
	switch {
	case a.Thought != nil:
		return v.task == "" || a.Thought.TaskID == v.task
	case a.Session != nil:
		return v.concerns(a.Session.TaskID, a.Session.Digest)
	default:
		return false
	}
}

func (v *verification) compare(tx *store.Tx, batch []attested) error {
	for _, a := range batch {
		if a.Session != nil {
			if err := v.compareRoot(tx, a.Session, a.at); err != nil {
				return err
			}
			continue
		}
		found, err := tx.At(a.Thought.TaskID, a.Thought.Seq)
		if err != nil {
			return err
		}
		v.chain.Attested(*a.Thought, found.Hash)
		if found.Position == a.at && found.Number <= v.last { // a crash can cause two attestations of a record; the record has the position of one
			v.out.Attested++
			v.claimed.remove(found.Number)
		}
	}
	return nil
}

func (v *verification) compareRoot(tx *store.Tx, a *export.SessionRoot, at store.Position) error {
	session, err := tx.SessionByDigest(a.Digest)
	if errors.Is(err, store.ErrNotFound) {
		v.brokenRoot(a.ID, a.Digest, "the ledger attests its root, and it is gone")
		return nil
	}
	if err != nil {
		return err
	}
	if session.Position == at {
		v.claimedSessions.remove(session.Number)
	}
	switch {
	case session.Root != a.Root || session.Records != a.Records || session.FinalizedAt != a.FinalizedAt:
		v.brokenRoot(session.ID, a.Digest, "the ledger attests another root")
	case session.Sum() != a.Sum:
		v.brokenRoot(session.ID, a.Digest, "the ledger attests other fields")
	}
	return nil
}

// unproven counts the records and sessions that are not attested at their ledger position. Entries that retention
// removed do not count.
func (v *verification) unproven(ctx context.Context) error {
	for number := range v.claimed.all() {
		err := v.db.View(ctx, func(tx *store.Tx) error {
			found, err := tx.Numbered(number)
			if err == nil && found.Position.Seq > v.pruned[found.Position.Chain] {
				v.chain.Unproven(found.TaskID, found.Seq, found.ID)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	for number := range v.claimedSessions.all() {
		err := v.db.View(ctx, func(tx *store.Tx) error {
			some, _, err := tx.Sessions(number+1, 1)
			if err == nil && len(some) == 1 && some[0].Number == number && some[0].Position.Seq > v.pruned[some[0].Position.Chain] {
				v.brokenRoot(some[0].ID, store.Digest(some[0].ID), "the ledger does not hold the entry that attests its root")
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// attestations calls with for every attestation in a ledger.
func attestations(ctx context.Context, dir string, with func(attested) error) error {
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
		if record.Kind != ledger.KindSuccess { // attestations are of this kind
			continue
		}
		if a, ok := export.ReadAttestation(record.Data); ok {
			if err := with(attested{a, store.Position{Chain: record.Chain, Seq: record.Seq}}); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// errOtherStore is the fault of a directory whose database is not the one that its ledger attests.
func errOtherStore(id string) error {
	return fmt.Errorf("the ledger attests the database %.8s, which is not in this folder: it was removed or replaced", id)
}
