package dual

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/export"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/trail"
	"github.com/candor-mcp/candor/ledger"
)

// The ledger attests committed changes with entries that follow the change. Changes without an entry, after a crash,
// are attested at the next start.

// attest writes an attestation of a record to the ledger. If that fails, the record is attested at the next start; the
// end of the call cannot be recorded then either, and the caller gets that error.
func (s *System) attest(ctx context.Context, c *workbench.Call, r *trail.Record) {
	if err := s.attestThought(context.WithoutCancel(ctx), c.Bench(), c.Entry(ledger.KindSuccess), r); err != nil {
		c.Bench().Logger().Error("a record could not be attested", slog.String("record", r.ID), slog.Any("error", err))
	}
}

func (s *System) attestThought(ctx context.Context, b *workbench.Bench, e ledger.Entry, r *trail.Record) error {
	e.SessionID = r.SessionID
	place, err := s.append(ctx, b, e, export.Attestation{Thought: &trail.Anchor{ID: r.ID, TaskID: r.TaskID, Seq: r.Seq, Hash: r.Hash}})
	if err != nil || place.Chain == "" {
		return err
	}
	return s.store.Update(ctx, func(tx *store.Tx) error { return tx.AttestThought(r.ID, place) })
}

// attestRoot writes an attestation of the root of a session to the ledger and returns its position, nil if that failed.
func (s *System) attestRoot(ctx context.Context, c *workbench.Call, session *store.Session) *store.Position {
	place, err := s.attestSession(context.WithoutCancel(ctx), c.Bench(), c.Entry(ledger.KindSuccess), session)
	if err != nil {
		c.Bench().Logger().Error("the root of a session could not be attested", slog.String("session", session.ID), slog.Any("error", err))
	}
	if err != nil || place.Chain == "" {
		return nil
	}
	return &place
}

func (s *System) attestSession(ctx context.Context, b *workbench.Bench, e ledger.Entry, session *store.Session) (store.Position, error) {
	e.SessionID = session.ID
	place, err := s.append(ctx, b, e, export.Attestation{Session: &export.SessionRoot{
		ID: session.ID, Digest: store.Digest(session.ID), TaskID: session.TaskID, Sum: session.Sum(),
		Root: session.Root, Records: session.Records, FinalizedAt: session.FinalizedAt}})
	if err != nil || place.Chain == "" {
		return place, err
	}
	return place, s.store.Update(ctx, func(tx *store.Tx) error { return tx.AttestSession(session.ID, place) })
}

// append writes an attestation to the ledger. Without a ledger the position is empty.
func (s *System) append(ctx context.Context, b *workbench.Bench, e ledger.Entry, a export.Attestation) (store.Position, error) {
	if b.Ledger() == "" {
		return store.Position{}, nil
	}
	id, err := store.Get(ctx, s.store, (*store.Tx).ID)
	if err == nil {
		a.Store, err = id, s.attestOpened(ctx, b, id)
	}
	if err != nil {
		return store.Position{}, err
	}
	receipt, err := b.Attest(ctx, attestationEntry(e, a))
	if err != nil || receipt.Unrecorded {
		return store.Position{}, err
	}
	return store.Position{Chain: receipt.Chain, Seq: receipt.Seq}, nil
}

// attestationEntry returns the entry for an attestation. The ledger redacts text that looks like a secret, so only
// digests can be compared later, not text that a caller chose.
func attestationEntry(e ledger.Entry, a export.Attestation) ledger.Entry {
	e.Outcome, e.Data = ledger.OutcomeOK, candor.DetailsOf(map[string]any{export.Key: a})
	return e
}

// pendingBatch is the number of records read at a time.
const pendingBatch = 200

// attestPending attests committed changes that were not attested. A crash in between may cause a record to be attested
// twice, with equal content. Nothing is attested if the database does not verify: a record whose ledger position was
// cleared could have been changed before, and a second attestation would make the change look genuine.
func (s *System) attestPending(ctx context.Context, b *workbench.Bench) error {
	if b.Ledger() == "" {
		return nil
	}
	var id string
	var waiting int64
	err := s.store.View(ctx, func(tx *store.Tx) (err error) {
		if id, err = tx.ID(); err == nil {
			waiting, err = tx.CountPending()
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := s.attestOpened(ctx, b, id); err != nil || waiting == 0 {
		return err
	}
	v, err := verify(ctx, s.store, s.home(b), "")
	if err != nil {
		return err
	}
	if !v.Valid {
		return fmt.Errorf("%d records and sessions are not attested: the database does not verify: %s", waiting, v.firstFault())
	}
	e := ledger.Entry{Kind: ledger.KindSuccess, Tool: "attest"}
	for {
		pending, err := store.Get(ctx, s.store, func(tx *store.Tx) ([]trail.Record, error) { return tx.Unattested(pendingBatch) })
		if err != nil || len(pending) == 0 {
			return s.attestPendingRoots(ctx, b, e, err)
		}
		for i := range pending {
			if err := s.attestThought(ctx, b, e, &pending[i]); err != nil {
				return err
			}
		}
	}
}

func (s *System) attestPendingRoots(ctx context.Context, b *workbench.Bench, e ledger.Entry, err error) error {
	if err != nil {
		return err
	}
	pending, err := store.Get(ctx, s.store, (*store.Tx).UnattestedSessions)
	if err != nil {
		return err
	}
	for i := range pending {
		if _, err := s.attestSession(ctx, b, e, &pending[i]); err != nil {
			return err
		}
	}
	return nil
}
