package ledger

import (
	"errors"
	"fmt"
	"slices"

	"github.com/candor-mcp/candor/ledger/internal/format"
	"github.com/candor-mcp/candor/ledger/internal/storage"
)

// Limits on the space to reserve at a time. The writer reserves as much as the segment already holds, so that the
// file system rarely has to allocate during a sync and a short session does not hold megabytes that it never uses.
const (
	minPreallocate = 64 << 10
	maxPreallocate = 4 << 20
)

// segments lists the segments in a chain's folder.
type segments struct {
	closed []int        // sorted; the first ones may have been pruned
	plain  map[int]bool // has a plain file, possibly besides a compressed one
	gzip   map[int]bool
	active bool
}

// last returns the highest closed number, or 0.
func (s segments) last() int {
	if len(s.closed) == 0 {
		return 0
	}
	return s.closed[len(s.closed)-1]
}

// name returns the file of a closed segment; the plain one if both exist.
func (s segments) name(n int) string {
	if s.plain[n] {
		return format.ClosedSegment(n)
	}
	return format.ClosedSegment(n) + format.GzipSuffix
}

func listSegments(s storage.Storage, chain string) (segments, error) {
	found := segments{plain: map[int]bool{}, gzip: map[int]bool{}}
	names, err := s.List(chain)
	if err != nil {
		return found, fmt.Errorf("listing %s: %w", chain, err)
	}
	for _, name := range names {
		if name == format.ActiveSegment {
			found.active = true
		}
		n, packed, ok := format.SegmentNumber(name)
		if !ok {
			continue
		}
		if packed {
			found.gzip[n] = true
		} else {
			found.plain[n] = true
		}
		if !slices.Contains(found.closed, n) {
			found.closed = append(found.closed, n)
		}
	}
	slices.Sort(found.closed)
	return found, nil
}

// segmentWriter is the active file of a chain. It is guarded by the writer's lock.
type segmentWriter struct {
	file     storage.File
	watch    storage.Watch
	taken    bool  // it is not at its path, or another process changed it
	size     int64 // bytes that were acknowledged
	reserved int64 // end of the reserved space
	started  int64 // Unix seconds of the first entry
	entries  int
}

// write appends lines and makes them durable. After an error, sound reports whether the previous size of the segment
// was durably restored. If not, the segment must never be written again.
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
		return false, fmt.Errorf("syncing: %w", err) // the content of the disk is now unknown
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
