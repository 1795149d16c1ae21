package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
)

// Pruning lists the segments that [Prune] removes.
type Pruning struct {
	Removed   []Removed // oldest first
	KeptFiles int       // other segments that are no longer written
	KeptBytes int64     // their total size
}

// Removed is a segment that is removed.
type Removed struct {
	Chain string    `json:"chain"`
	File  string    `json:"file"` // relative to the ledger's folder
	Bytes int64     `json:"bytes"`
	Last  time.Time `json:"last_write"`
}

// Prunable returns what [Prune] would remove. It removes and records nothing. Chains whose segments cannot be read are
// left out, and the error names them.
func Prunable(dir string, o Options) (Pruning, error) {
	o, err := prepared(dir, o)
	if err != nil {
		return Pruning{}, err
	}
	p, err := prunable(&o)
	return p, logFailed(errors.Join(err, o.storage.Close()))
}

// Prune removes the segments that exceed [Options.RetainAge] and [Options.RetainBytes], as a running ledger with these
// options does, and returns them. It records the removal in a new chain, so that the remaining entries still verify; if
// there is nothing to remove it writes nothing. Other processes may have the ledger open: their closed segments are
// removed too, but never the segment that they write.
//
// Chains whose segments cannot be read are kept. The error then names them, and Removed lists what was removed
// nevertheless. The other errors are those of [Open].
func Prune(ctx context.Context, dir string, o Options) (Pruning, error) {
	now, err := prepared(dir, o)
	if err != nil {
		return Pruning{}, err
	}
	plan, err := prunable(&now)
	if err = errors.Join(err, now.storage.Close()); len(plan.Removed) == 0 {
		return plan, logFailed(err)
	}
	if err := context.Cause(ctx); err != nil {
		return Pruning{}, err
	}
	limits := o
	if limits.Clock == nil {
		limits.Clock = time.Now
	}
	o.RetainAge, o.RetainBytes, o.Compress = 0, 0, false // no round in the background
	l, err := Open(dir, o)
	if err != nil {
		return Pruning{}, err
	}
	unlock, err := lockFolder(l.options.storage, l.options.LockWait)
	if err != nil {
		return Pruning{}, errors.Join(err, l.Close())
	}
	all, err := l.retain(&limits)
	if err != nil {
		err = logFailed(err)
	}
	return summarize(all), errors.Join(err, unlock(), l.Close())
}

// prepared returns the options with defaults and with the storage of an existing folder.
func prepared(dir string, o Options) (Options, error) {
	o, err := o.withDefaults()
	if err == nil && o.storage == nil {
		if _, err = os.Stat(dir); err == nil { // storage.Open creates a missing folder
			o.storage, err = storage.Open(dir)
		}
	}
	if err != nil {
		return o, logFailed(fmt.Errorf("opening the ledger: %w", err))
	}
	return o, nil
}

// prunable marks the segments to remove as retain does after the chains of killed writers were recovered.
func prunable(o *Options) (Pruning, error) {
	if names, err := segment.Chains(o.storage.Files()); err != nil || len(names) == 0 {
		return Pruning{}, errors.Join(err, keyIn(o.storage)) // no lock file is created in a folder that is not a ledger
	}
	unlock, err := lockFolder(o.storage, o.LockWait)
	if err != nil {
		return Pruning{}, err
	}
	all, err := listHeld(o.storage, func(chain string) (endNote, bool) {
		end, ended := readEnd(o.storage.Files(), chain)
		return end, ended || abandoned(o.storage, chain)
	})
	choose(all, o)
	return summarize(all), errors.Join(err, unlock())
}

// keyIn returns ErrNoLedger if the folder has no key.
func keyIn(s storage.Storage) error {
	for _, name := range []string{format.SignerPub, format.SignerKey} {
		if _, err := fs.Stat(s.Files(), name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return segment.ErrNoLedger
}

// abandoned reports whether the writer of a chain without an end note has exited. The caller holds the folder's lock,
// so that no other process tries to recover the chain while its lock is held here.
func abandoned(s storage.Storage, chain string) bool {
	name := chain + "/" + chainLock
	note, err := storage.ReadSmall(s.Files(), name, format.MaxKeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return false
	}
	unlock, err := s.Lock(name, note)
	return err == nil && unlock() == nil
}

// summarize describes the marked segments.
func summarize(all []*heldChain) Pruning {
	var p Pruning
	for _, c := range all {
		for i, f := range c.files {
			if i < c.remove {
				p.Removed = append(p.Removed, Removed{c.name, f.name, f.bytes, f.modified})
			} else {
				p.KeptFiles++
				p.KeptBytes += f.bytes
			}
		}
	}
	slices.SortStableFunc(p.Removed, func(a, b Removed) int {
		return cmp.Or(a.Last.Compare(b.Last), cmp.Compare(a.File, b.File))
	})
	return p
}
