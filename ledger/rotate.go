package ledger

import (
	"errors"
	"fmt"

	"github.com/candor-mcp/candor/internal/segment/format"
)

// errFolderSync means that a folder could not be synced, so that its names may not be on the disk.
var errFolderSync = errors.New("syncing the chain's folder")

// rotationDue reports whether the segment is too large. A segment that holds only its first line is not rotated.
func (w *writer) rotationDue() bool {
	g := w.chain.segment
	return g != nil && g.entries >= 2 && g.size >= w.ledger.options.MaxSegmentBytes
}

// rotate signs a checkpoint at the end of the segment and closes the segment; prepare begins the next one. If the
// segment cannot be renamed, the writer continues with it: rotate reports a warning and the next batch tries again.
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

// rotated releases a segment that was renamed. The new name must be durable before another file gets the old one;
// otherwise a crash could leave the new file under the old name.
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
	w.pending.Segment, w.pending.Tree, w.pending.Open = c.closed, c.at.tree.Edges(), listOpen(c.open)
	w.pending.Within = checkpointWithin.Milliseconds()
	w.ledger.upkeep.ring()
	return nil
}
