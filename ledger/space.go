package ledger

import (
	"errors"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
)

// space is what the writer knows about free disk space. It is guarded by the writer's lock.
//
// A reserve file of zeros is kept beside the segment. When the disk is full, the file is removed, which frees space
// for one entry that records the full disk. Until the file can be created again, the disk counts as full and entries
// are refused without touching the segment.
type space struct {
	full    bool
	back    bool   // space is available again, but no entry records it yet
	refused uint64 // entries refused since the disk was full
}

// body returns the body of an entry about disk space.
func (s *space) body(disk string) []byte {
	return ownBody(KindSetting, struct {
		Disk    string `json:"disk"`
		Refused uint64 `json:"refused"`
	}{disk, s.refused})
}

// fill counts n entries that were refused for lack of space. The first time, it records the full disk in the ledger,
// using the reserved space.
func (w *writer) fill(n int) {
	w.space.refused += uint64(n) //nolint:gosec // a length
	w.space.back = false
	if w.space.full {
		return
	}
	w.space.full = true
	w.ledger.warner.warn(warningFull, "the disk is full: entries are refused until there is space", nil)
	c := w.chain
	if c == nil || c.segment == nil || c.uncovered()+maxOwnEntries > maxUncovered {
		return
	}
	if err := storage.Remove(w.storage, c.name+"/"+format.ReserveFile); err != nil {
		return
	}
	if w.mustSign(1) && w.sign() != nil {
		return
	}
	// This entry only explains the gap, so an error is ignored: the next entry that can be written records how many
	// were refused.
	bodies := append(w.ownBodies(nil), w.space.body("full"))
	if err := w.write(bodies); err == nil {
		w.recorded(len(bodies), 0)
	}
}

// regainSpace checks, while the disk is full, whether space is available again.
func (w *writer) regainSpace() error {
	if !w.space.full {
		return nil
	}
	if err := w.keepBack(); err != nil {
		return errNoSpace
	}
	w.space.full, w.space.back = false, true
	w.ledger.warner.warn(warningSpaceBack, "there is disk space again", nil)
	return nil
}

// keepBack creates the reserve file. It need not be durable: after a crash the next chain has its own.
func (w *writer) keepBack() error {
	size := w.ledger.options.ReserveBytes
	if size == 0 {
		return nil
	}
	name := w.chain.name + "/" + format.ReserveFile
	if err := storage.Remove(w.storage, name); err != nil {
		return err
	}
	f, err := w.storage.Create(name, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, size))
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, storage.Remove(w.storage, name))
	}
	return nil
}
