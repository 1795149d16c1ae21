package ledger

import (
	"errors"
	"fmt"

	"github.com/candor-mcp/candor/ledger/internal/format"
)

// errFolderSync means that a folder could not be synced, so that its names may not be on the disk.
var errFolderSync = errors.New("syncing the chain's folder")

// rotationDue reports whether the segment has become too large or too old. One that holds nothing but its first line never has.
func (w *writer) rotationDue() bool {
	g, o := w.chain.segment, &w.ledger.options
	if g == nil || g.entries < 2 {
		return false
	}
	return g.size >= o.MaxSegmentBytes || o.MaxSegmentAge > 0 && w.now().Unix()-g.started >= int64(o.MaxSegmentAge.Seconds())
}

// Rotate closes the segment under a checkpoint of exactly its end. The new one is begun by prepare. As long as the old one has its name it
// can go on: then OnWarning is called and the next batch tries again.
func (w *writer) rotate() error {
	c := w.chain
	err := w.sign()
	if w.chain == nil {
		return err
	}
	if err == nil {
		if err = errors.Join(c.present(), w.syncNotes()); err != nil {
			w.poison(err)
			return logFailed(err)
		}
		// All entries and the checkpoint over them are durable.
		err = c.storage.Rename(c.name+"/"+format.ActiveSegment, c.name+"/"+format.ClosedSegment(c.closed+1))
	}
	if err != nil {
		w.ledger.warner.warn(warningUpkeep, "the segment could not be closed", err)
		return nil
	}
	return w.rotated()
}

// rotated releases a segment that was renamed. The new name must be durable before another file takes the old one, or a crash could leave
// the new file in its place.
func (w *writer) rotated() error {
	c := w.chain
	if err := c.storage.SyncDir(c.name); err != nil {
		err = fmt.Errorf("%w: %w", errFolderSync, err)
		w.poison(err)
		return logFailed(err)
	}
	if err := c.segment.release(); err != nil {
		w.ledger.warner.warn(warningUpkeep, "the closed segment could not be released", err)
	}
	c.segment = nil
	c.closed++
	w.pending.Segment, w.pending.Tree, w.pending.Open = c.closed, c.at.tree.Edges(), c.unfinished()
	w.pending.Within = checkpointWithin.Milliseconds()
	w.ledger.upkeep.ring()
	return nil
}
