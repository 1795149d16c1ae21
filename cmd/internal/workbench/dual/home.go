package dual

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"

	"github.com/candor-mcp/candor/cmd/internal/workbench"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/export"
	"github.com/candor-mcp/candor/cmd/internal/workbench/dual/store"
	"github.com/candor-mcp/candor/ledger"
)

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
	h := home{ledger: ledger, digest: store.Digest(realPath(state))}
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

// maxStores is the maximum number of databases of one ledger.
const maxStores = 10000

func (s stores) add(a export.Attestation) {
	if _, known := s[a.Store]; !known && len(s) >= maxStores {
		return
	}
	if a.Opened != nil {
		s[a.Store] = a.Opened.Home
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
	return all, attestations(ctx, dir, func(a attested) error {
		all.add(a.Attestation)
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
		return nil //nolint:nilerr // every call says so with a code of its own
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
		receipt, err := b.Attest(ctx, attestationEntry(e, export.Attestation{Store: id, Opened: &export.Opened{Home: h.digest}}))
		if err != nil || receipt.Unrecorded {
			return err
		}
	}
	s.opened = true
	return nil
}

// numbers is a set of numbers, stored as bitmaps of 64.
type numbers map[int64]uint64

func (n numbers) add(i int64) { n[i>>6] |= 1 << (i & 63) }

func (n numbers) remove(i int64) {
	if n[i>>6] &^= 1 << (i & 63); n[i>>6] == 0 {
		delete(n, i>>6)
	}
}

// all returns the numbers in ascending order.
func (n numbers) all() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, block := range slices.Sorted(maps.Keys(n)) {
			for i := range int64(64) {
				if n[block]&(1<<i) != 0 && !yield(block<<6|i) {
					return
				}
			}
		}
	}
}
