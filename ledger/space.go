package ledger

import (
	"errors"
	"time"

	"github.com/candor-mcp/candor/ledger/internal/format"
	"github.com/candor-mcp/candor/ledger/internal/storage"
)

// space is what the writer knows of the room on the disk. It is guarded by the writer's lock.
//
// A file of zeros is kept beside the segment. When the disk is full it is removed, which makes room for one entry that says so; as long as it
// cannot be made again the disk counts as full, and entries are refused without touching the segment.
type space struct {
	full    bool
	back    bool   // there is room again, and no entry says so yet
	refused uint64 // entries since it was full
	low     bool   // the operator has been warned
	checked time.Time
}

// body is the entry about it.
func (s *space) body(disk string) []byte {
	return ownBody(KindSetting, struct {
		Disk    string `json:"disk"`
		Refused uint64 `json:"refused"`
	}{disk, s.refused})
}

// told notes that the entry about regained room is durable.
func (s *space) told() {
	if s.back {
		s.back, s.refused = false, 0
	}
}

// fill notes that n entries were refused for want of room; the first time it says so in the ledger, with the room that was kept back.
func (w *writer) fill(n int) {
	w.space.refused += uint64(n) //nolint:gosec // a length
	w.space.back = false
	if w.space.full {
		return
	}
	w.space.full = true
	w.ledger.warner.warn(warningFull, "the disk is full: entries are refused until there is space", nil)
	c := w.chain
	if c == nil || c.segment == nil || c.uncovered()+ownRoom > maxUncovered {
		return
	}
	if err := storage.Remove(w.storage, c.name+"/"+format.ReserveFile); err != nil {
		return
	}
	if w.mustSign(1) && w.sign() != nil {
		return
	}
	// Without this entry nothing is lost but the explanation: the next that can be written tells how many were refused.
	bodies := append(w.ownBodies(nil), w.space.body("full"))
	if err := w.write(bodies); err == nil {
		w.recorded(len(bodies), 0)
	}
}

// regainSpace looks, while the disk is full, whether there is room again.
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

// keepBack makes the file of zeros. It need not be durable: after a crash the next chain has its own.
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

// checkSpace warns once when room becomes scarce, and again only after there was plenty.
func (w *writer) checkSpace() {
	limit := uint64(w.ledger.options.LowSpaceBytes) //nolint:gosec // not negative, see withDefaults
	if limit == 0 || time.Since(w.space.checked) < time.Second {
		return
	}
	w.space.checked = time.Now()
	free, err := w.storage.Free()
	switch {
	case err != nil:
	case free < limit && !w.space.low:
		w.space.low = true
		w.ledger.warner.warn(warningLowSpace, "little space is left on the ledger's disk", nil)
	case free > 2*limit:
		w.space.low = false
	}
}
