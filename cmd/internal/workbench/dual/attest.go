package dual

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/rules"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	"github.com/candor-mcp/candor/ledger"
)

// The ledger attests committed changes with entries that follow the change. Changes without an entry, after a crash,
// are attested at the next start.

// attest writes an attestation of a record to the ledger, and those that earlier calls could not write. It reports whether all are written;
// the others follow with the next call, or at the next start.
func (s *System) attest(ctx context.Context, c *workbench.Call, r *rules.Record) bool {
	anchor, entry := *r, c.Entry(ledger.KindSuccess)
	anchor.Content = "" // the attestation has only its hash
	return s.attestAll(ctx, c, func(ctx context.Context) error { return s.attestThought(ctx, c.Bench(), entry, &anchor) })
}

// attestAll calls what earlier calls left, and then attest. What fails is left for the next call. The hashes are those of this process, so
// that nothing needs to be verified before.
func (s *System) attestAll(ctx context.Context, c *workbench.Call, attest func(context.Context) error) bool {
	s.attesting.Lock()
	defer s.attesting.Unlock()
	for s.late = append(s.late, attest); len(s.late) > 0; s.late = s.late[1:] {
		if err := s.late[0](context.WithoutCancel(ctx)); err != nil {
			c.Bench().Logger().Error("a record or session could not be attested", slog.Int("waiting", len(s.late)), slog.Any("error", err))
			return false
		}
	}
	return true
}

func (s *System) attestThought(ctx context.Context, b *workbench.Bench, e ledger.Entry, r *rules.Record) error {
	e.SessionID = r.SessionID
	anchor := &rules.Anchor{ID: r.ID, Place: rules.Place{TaskID: r.TaskID, Seq: r.Seq}, Hash: r.Hash}
	place, err := s.append(ctx, b, e, rules.Attestation{Thought: anchor})
	if err != nil || place.Chain == "" {
		return err
	}
	return s.store.Update(ctx, func(tx *store.Tx) error { return tx.AttestThought(r.ID, place) })
}

// attestRoot writes an attestation of the root of a session to the ledger and returns its position, nil if that failed.
func (s *System) attestRoot(ctx context.Context, c *workbench.Call, session *store.Session) *store.Position {
	attested, entry := *session, c.Entry(ledger.KindSuccess)
	if !s.attestAll(ctx, c, func(ctx context.Context) error { return s.attestSession(ctx, c.Bench(), entry, &attested) }) || attested.Position.Chain == "" {
		return nil
	}
	return &attested.Position
}

func (s *System) attestSession(ctx context.Context, b *workbench.Bench, e ledger.Entry, session *store.Session) error {
	e.SessionID = session.ID
	place, err := s.append(ctx, b, e, rules.Attestation{Session: &rules.SessionRoot{
		ID: session.ID, Digest: rules.Digest(session.ID), TaskID: session.TaskID, Sum: session.Sum(),
		Root: session.Root, Records: session.Records, FinalizedAt: session.FinalizedAt}})
	if err != nil || place.Chain == "" {
		return err
	}
	session.Position = place
	return s.store.Update(ctx, func(tx *store.Tx) error { return tx.AttestSession(session.ID, place) })
}

// append writes an attestation to the ledger. Without a ledger the position is empty.
func (s *System) append(ctx context.Context, b *workbench.Bench, e ledger.Entry, a rules.Attestation) (store.Position, error) {
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
	if err != nil {
		return store.Position{}, err
	}
	return store.Position{Chain: receipt.Chain, Seq: receipt.Seq}, nil
}

// attestationEntry returns the entry for an attestation. The ledger redacts text that looks like a secret, so only
// digests can be compared later, not text that a caller chose.
func attestationEntry(e ledger.Entry, a rules.Attestation) ledger.Entry {
	e.Outcome, e.Data = ledger.OutcomeOK, candor.DetailsOf(map[string]any{rules.Key: a})
	return e
}

// attestPending attests committed changes that were not attested. A crash in between may cause a record to be attested
// twice, with equal content. Nothing is attested if the database does not verify: a record with a ledger position that
// was cleared could have been changed before, and a second attestation would make the change look genuine.
func (s *System) attestPending(ctx context.Context, b *workbench.Bench) error {
	if b.Ledger() == "" {
		return nil
	}
	var id string
	var records []rules.Record
	var sessions []store.Session
	err := s.store.View(ctx, func(tx *store.Tx) (err error) {
		if id, err = tx.ID(); err != nil {
			return err
		}
		if records, err = tx.Unattested(); err != nil {
			return err
		}
		sessions, err = tx.UnattestedSessions()
		return err
	})
	if err != nil {
		return err
	}
	if err := s.attestOpened(ctx, b, id); err != nil || len(records)+len(sessions) == 0 {
		return err
	}
	v, err := verify(ctx, s.store, s.home(b), "")
	if err != nil {
		return err
	}
	if !v.Valid {
		return fmt.Errorf("%d records and sessions are not attested: the database does not verify: %s", len(records)+len(sessions), v.firstFault())
	}
	e := ledger.Entry{Kind: ledger.KindSuccess, Tool: "attest"}
	for i := range records {
		if err := s.attestThought(ctx, b, e, &records[i]); err != nil {
			return err
		}
	}
	for i := range sessions {
		if err := s.attestSession(ctx, b, e, &sessions[i]); err != nil {
			return err
		}
	}
	return nil
}

// home is the location of a database and its ledger.
type home struct {
	ledger string // directory; "" for none
	digest string // identifies the state directory in the ledger
}

// inside identifies the state directory that contains the ledger. It stays valid when the directory is moved or copied.
const inside = "inside"

// newHome returns the home of a state directory. Several state directories can share a ledger elsewhere; their paths
// distinguish them.
func newHome(state, ledger string) home {
	h := home{ledger: ledger, digest: rules.Digest(realPath(state))}
	if rel, err := filepath.Rel(realPath(state), realPath(ledger)); ledger != "" && err == nil && filepath.IsLocal(rel) {
		h.digest = inside
	}
	return h
}

// realPath returns an absolute path with symbolic links resolved, as far as possible. The last element may not exist
// yet.
func realPath(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		return filepath.Join(real, filepath.Base(abs))
	}
	return abs
}

func (s *System) home(b *workbench.Bench) home { return newHome(s.o.State.Dir(), b.Ledger()) }

// stores maps the databases that a ledger attests to their last home.
type stores map[string]string

func (s stores) add(a *rules.Attestation) {
	if a.Home != "" {
		s[a.Store] = a.Home
	} else if _, known := s[a.Store]; !known {
		s[a.Store] = inside
	}
}

// missing returns a database other than id that the ledger attests for the home, or "".
func (s stores) missing(id, home string) string {
	found := ""
	for other, at := range s {
		if other != id && at == home && (found == "" || other < found) {
			found = other
		}
	}
	return found
}

// readStores returns the databases that a ledger attests.
func readStores(ctx context.Context, dir string) (stores, error) {
	all := stores{}
	return all, attestations(ctx, dir, func(a *rules.Attestation, _ store.Position) error {
		all.add(a)
		return nil
	})
}

// databaseAttested returns an error if the ledger attests that another database was in the state directory.
func (s *System) databaseAttested(ctx context.Context, b *workbench.Bench) error {
	h := s.home(b)
	if h.ledger == "" {
		return nil
	}
	reader, err := ledger.OpenReader(h.ledger)
	if err != nil {
		return nil //nolint:nilerr // every call fails with its own code
	}
	defer reader.Close() //nolint:errcheck // it was not read
	all, err := readStores(ctx, h.ledger)
	if err != nil {
		return err
	}
	id, err := store.Get(ctx, s.store, (*store.Tx).ID)
	if errors.Is(err, store.ErrNotFound) {
		return errors.New("the id of the database was removed (hint: restore " + store.FileName + " from a copy)")
	}
	if err != nil {
		return err
	}
	if gone := all.missing(id, h.digest); gone != "" {
		return fmt.Errorf("%w (hint: restore %s from a copy, or begin with another --state folder)", errOtherStore(gone), store.FileName)
	}
	return nil
}

// errOtherStore is the fault of a directory that does not have the database that its ledger attests.
func errOtherStore(id string) error {
	return fmt.Errorf("the ledger attests the database %.8s, which is not in this folder: it was removed or replaced", id)
}

// attestOpened writes an entry to the ledger, once for each home, that the database is used with it. Without the entry,
// a database without records could be replaced by another one undetected.
func (s *System) attestOpened(ctx context.Context, b *workbench.Bench, id string) error {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.opened {
		return nil
	}
	h := s.home(b)
	all, err := readStores(ctx, h.ledger)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the first entry creates a new ledger
		return err
	}
	if at, known := all[id]; !known || at != h.digest {
		e := ledger.Entry{Kind: ledger.KindSuccess, Tool: "attest"}
		if _, err := b.Attest(ctx, attestationEntry(e, rules.Attestation{Store: id, Home: h.digest})); err != nil {
			return err
		}
	}
	s.opened = true
	return nil
}
