package ledger

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
)

// Limits on the space to reserve at a time. The writer reserves as much as the segment already holds, so that the
// file system rarely has to allocate during a sync and a short session does not hold megabytes that it never uses.
const (
	minPreallocate = 64 << 10
	maxPreallocate = 4 << 20
)

// listSegments returns the closed segments of a chain, and whether it has an active one.
func listSegments(s storage.Storage, chain string) (closed []segment.File, active bool, err error) {
	closed, err = segment.List(s.Files(), chain)
	if err != nil {
		return nil, false, err
	}
	_, err = fs.Stat(s.Files(), chain+"/"+format.ActiveSegment)
	if errors.Is(err, fs.ErrNotExist) {
		return closed, false, nil
	}
	return closed, err == nil, err
}

// segmentWriter is the active file of a chain. It is guarded by the writer's lock.
type segmentWriter struct {
	file     storage.File
	watch    storage.Watch
	taken    bool  // it is not at its path, or another process changed it
	size     int64 // bytes that were acknowledged
	reserved int64 // end of the reserved space
	entries  int
}

// write appends lines and makes them durable. After an error, sound reports whether the previous size of the segment was durably restored.
// If not, the segment must never be written again.
func (g *segmentWriter) write(lines []byte) (sound bool, err error) {
	if end := g.size + int64(len(lines)); end > g.reserved {
		// An error is ignored: if there is no space, the write fails.
		more := min(max(g.size, minPreallocate), maxPreallocate)
		if g.file.Reserve(int64(len(lines))+more) == nil {
			g.reserved = end + more
		}
	}
	n, err := g.file.Write(lines)
	if err == nil && n < len(lines) {
		err = fmt.Errorf("%d of %d bytes were written", n, len(lines))
	}
	if err != nil {
		return g.undo(), fmt.Errorf("writing: %w", err)
	}
	if err := g.file.Sync(); err != nil {
		return false, fmt.Errorf("syncing: %w", err) // the content of the disk is unknown
	}
	g.size += int64(len(lines))
	return true, nil
}

// undo removes a partly written batch. None of it was synced, and all before it was.
func (g *segmentWriter) undo() bool {
	g.reserved = 0
	return g.file.Truncate(g.size) == nil && g.file.Sync() == nil
}

// release releases reserved space that was not used, and closes the file.
func (g *segmentWriter) release() error {
	if g.taken { // the changes are evidence and are kept
		return errors.Join(g.file.Trim(), g.file.Close())
	}
	return errors.Join(g.file.Truncate(g.size), g.file.Close())
}
