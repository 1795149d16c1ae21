package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"github.com/candor-mcp/candor/ledger/internal/format"
	"github.com/candor-mcp/candor/ledger/internal/storage"
)

// A ledger may be shipped: another process or another part of this one copies the entries to a store. The folder then
// has a file that says so, and each chain has a file with the last entry that the store has. Retention reads them.

// shipped is the last entry of a chain that a store has acknowledged, as its file holds it. The file of the folder has only
// the store.
type shipped struct {
	Seq   uint64 `json:"seq"`
	Store string `json:"id"`
}

// isShipped reports whether the entries of the folder are copied to a store. If that is unknown, they are.
func isShipped(s storage.Storage) bool {
	_, err := fs.Stat(s.Files(), format.ShippingFile)
	return !errors.Is(err, fs.ErrNotExist)
}

// lastShipped returns the number of the last entry that the store has; 0 if it has none, if that is unknown, or if only an
// earlier store has it.
func lastShipped(s storage.Storage, chain string) uint64 {
	at, err := readShipped(s, chain+"/"+format.ShippedFile)
	to, other := readShipped(s, format.ShippingFile)
	if err != nil || other != nil || at.Store != to.Store {
		return 0
	}
	return at.Seq
}

func readShipped(s storage.Storage, name string) (at shipped, err error) {
	b, err := storage.ReadSmall(s.Files(), name, format.MaxKeyFile)
	if err == nil {
		err = json.Unmarshal(b, &at)
	}
	return at, err
}

// keepUnshipped limits the segments that may be removed to those whose entries the store has.
func (c *heldChain) keepUnshipped(s storage.Storage) {
	stored := lastShipped(s, c.name)
	c.limit = 0
	for n := len(c.files); n > 0 && c.limit == 0; n-- {
		if n == len(c.files) && c.ended && c.end.How == "" {
			continue // it was not recovered yet, so its last entry is unknown
		}
		c.remove = n
		if last, err := c.lastRemoved(s); err == nil && last.Size <= stored {
			c.limit = c.remove
		}
	}
	c.remove = 0
}

// Durable returns the number of the last entry of a chain that is known to be durable, and whether the chain has ended
// and gets no more entries. Entries of a chain that another process is writing are known to be durable when a
// checkpoint covers them.
func (r *Reader) Durable(chain string) (seq uint64, ended bool, err error) {
	if !format.LooksLikeChain(chain) {
		return 0, false, fmt.Errorf("%q is not the name of a chain", chain)
	}
	if _, err := fs.Stat(r.fsys, chain); err != nil {
		return 0, false, err
	}
	if end, ok := readEnd(r.fsys, chain); ok {
		return end.Size, true, nil
	}
	seq, _ = lastCheckpoint(r.fsys, chain)
	return seq, false, nil
}

// errUnsynced means that a store may have entries of a chain that this folder does not have. A recovery without them would
// sign an end of the chain that contradicts the store for ever.
//
// The next step is part of the text, because commands replace hints about a folder that cannot be opened by their own.
var errUnsynced = errors.New("only the store has all of its entries for certain, because it was written with ack=quorum:" +
	" start once with ack=quorum and the URL of that store while it can be reached; if the store is gone for good, remove the file " +
	format.UnsyncedFile + " of the chain, and what only the store had is lost")

// markUnsynced notes that a chain is written without syncs.
func markUnsynced(s storage.Storage, chain string) error {
	f, err := s.Create(chain+"/"+format.UnsyncedFile, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return fmt.Errorf("noting that the chain is not synced: %w", err)
	}
	return nil
}

// isUnsynced reports whether a chain was written without syncs. If that is unknown, it was.
func isUnsynced(s storage.Storage, chain string) bool {
	_, err := fs.Stat(s.Files(), chain+"/"+format.UnsyncedFile)
	return !errors.Is(err, fs.ErrNotExist)
}

// missingLines returns lines of a chain; see [Options.Missing].
type missingLines func(chain string, after uint64) iter.Seq2[[]byte, error]

// errSegmentStart means that a line begins a segment.
var errSegmentStart = errors.New("begins another segment")

// refill appends the lines that missing returns to the active segment, as far as they continue the chain, and makes
// them durable. It returns their number.
func (w *walk) refill(s storage.Storage, missing missingLines) (n uint64, err error) {
	name := w.chain + "/" + format.ActiveSegment
	empty := true
	if info, err := fs.Stat(s.Files(), name); err == nil {
		empty = info.Size() == 0
	}
	var f storage.File
	for line, err := range missing(w.chain, w.at.seq()) {
		if err != nil {
			return n, errors.Join(fmt.Errorf("restoring entries of %s: %w", w.chain, err), closeFile(f))
		}
		if w.accept(line, empty) != nil {
			break // the lines are those of another chain with this name; the shipper reports that
		}
		if f == nil {
			if f, err = openOrCreate(s, name); err != nil {
				return n, err
			}
		}
		if _, err := f.Write(append(line[:len(line):len(line)], '\n')); err != nil {
			return n, errors.Join(fmt.Errorf("restoring entries of %s: %w", w.chain, err), f.Close())
		}
		n, empty = n+1, false
	}
	if f == nil {
		return 0, nil
	}
	return n, errors.Join(f.Sync(), f.Close(), s.SyncDir(w.chain))
}

// accept checks that a line continues the chain in its active segment, and advances past it.
func (w *walk) accept(line []byte, start bool) error {
	if len(line) >= format.MaxLine || w.closed {
		return format.ErrShape
	}
	var first struct{ Segment int }
	if l, err := ParseLine(line); err == nil && l.Kind == KindCheckpoint && !start {
		if format.DecodeData(line, &first) == nil && first.Segment > 0 {
			return errSegmentStart
		}
	}
	_, err := w.take(line, start)
	return err
}

func openOrCreate(s storage.Storage, name string) (storage.File, error) {
	f, err := s.OpenAppend(name)
	if errors.Is(err, fs.ErrNotExist) {
		return s.Create(name, 0o600)
	}
	return f, err
}

func closeFile(f storage.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}
