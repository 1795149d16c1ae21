package filestore

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
)

// cursor is a place in a chain up to which its lines were returned.
//
// The position of a line is the number of its entry: that of the first entry of its segment, and one more for every line after it. For
// chains that no honest node has written it only increases.
type cursor struct {
	position uint64
	closed   int         // number of the last closed segment that was read to its end
	file     os.FileInfo // the segment after it, of which a part was read; nil if none
	offset   int64       // in file
}

// Lines implements [fleet.Store].
func (s *Store) Lines(ctx context.Context, chain fleet.Chain, after uint64) iter.Seq2[fleet.Stored, error] {
	return func(yield func(fleet.Stored, error) bool) {
		root, err := s.begin(ctx, chain, false)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				yield(fleet.Stored{}, err)
			}
			return
		}
		r := &chainReader{ctx: ctx, done: s.done, root: root, chain: chain, after: after, yield: yield}
		if err := r.read(&cursor{}); err != nil {
			yield(fleet.Stored{}, failed("reading", chain, err))
		}
	}
}

// chainReader passes the lines of a chain after a cursor to a loop.
type chainReader struct {
	ctx     context.Context //nolint:containedctx // of one call
	done    <-chan struct{} // closed with the store
	root    *os.Root
	chain   fleet.Chain
	after   uint64 // lines up to this position are skipped
	yield   func(fleet.Stored, error) bool
	stopped bool  // yield has returned false
	err     error // why the reader stopped
}

// read reads from the cursor to the present end and moves the cursor. A segment that is closed meanwhile is read under its new name.
func (r *chainReader) read(at *cursor) error {
	for {
		files, err := segments(r.root, r.chain)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			files, err = r.skip(at, files)
		}
		for _, file := range files.closed {
			if err != nil {
				break
			}
			if err = r.closed(at, file); err == nil && r.stopped {
				return nil
			}
		}
		more := false
		if err == nil {
			more, err = r.active(at)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue // a segment was compressed or removed since it was listed
		}
		if err != nil || r.stopped || !more {
			return err
		}
	}
}

// skip returns the files that have lines after the cursor.
func (r *chainReader) skip(at *cursor, files segmentFiles) (segmentFiles, error) {
	for len(files.closed) > 0 && files.closed[0].number <= at.closed {
		files.closed = files.closed[1:]
	}
	for at.position == 0 && len(files.closed) > 1 { // nothing was read yet
		first, err := firstNumber(r.root, files.closed[1])
		if err != nil {
			return files, err
		}
		if first == 0 || first-1 > r.after {
			break
		}
		at.closed = files.closed[0].number
		files.closed = files.closed[1:]
	}
	return files, nil
}

// closed reads a closed segment from the cursor on.
func (r *chainReader) closed(at *cursor, file closedSegment) error {
	f, err := openRegular(r.root, file.name, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	if err := r.segment(at, file, f); err != nil || r.stopped {
		return err
	}
	at.closed, at.file, at.offset = file.number, nil, 0
	return nil
}

// active reads the active segment. It reports whether another segment was closed meanwhile, which has to be read first.
func (r *chainReader) active(at *cursor) (more bool, err error) {
	file := closedSegment{name: activeName(r.chain)}
	f, err := openRegular(r.root, file.name, os.O_RDONLY)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if f != nil {
		defer f.Close() //nolint:errcheck // only read
	}
	files, listErr := segments(r.root, r.chain)
	if listErr != nil || files.newest() > at.closed {
		return listErr == nil, listErr
	}
	if f == nil {
		return false, nil
	}
	return false, r.segment(at, file, f)
}

// segment reads an open file from the cursor on.
func (r *chainReader) segment(at *cursor, file closedSegment, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	position, offset := at.position, at.offset
	if at.file == nil || !os.SameFile(at.file, info) {
		first, err := firstIn(f, file)
		if err != nil {
			return err
		}
		offset = 0
		if first > 0 && (at.file != nil || position == 0 || first > position) {
			position = first - 1 // also for a file that was rewritten, whose first lines were returned before
		}
	}
	at.file, at.offset = info, offset
	skip := max(r.after, at.position)
	err = linesOf(f, file, offset, func(line []byte, end int64) bool {
		position++
		if position > skip && !r.pass(fleet.Stored{Chain: r.chain, Position: position, Line: line}) {
			return false
		}
		at.offset, at.position = end, max(at.position, position)
		return true
	})
	return errors.Join(err, r.err)
}

func (r *chainReader) pass(stored fleet.Stored) bool {
	select {
	case <-r.done:
		r.err = errClosed
	default:
		r.err = r.ctx.Err()
	}
	if r.err == nil && !r.yield(stored, nil) {
		r.stopped = true
	}
	return r.err == nil && !r.stopped
}
