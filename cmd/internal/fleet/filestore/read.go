package filestore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
)

// chainEnd is the end of a chain when it was last read: the position of its last line, and its active segment.
type chainEnd struct {
	position uint64
	active   os.FileInfo
}

// Lines implements [fleet.Store].
//
// The position of a line is the number of its entry: that of the first entry of its segment, and one more for every line after it. For
// chains that no honest node has written it only increases.
func (s *Store) Lines(ctx context.Context, chain fleet.Chain, after uint64) iter.Seq2[fleet.Stored, error] {
	return func(yield func(fleet.Stored, error) bool) {
		root, err := s.begin(ctx, chain, false)
		if err == nil {
			err = s.lines(ctx, root, chain, after, func(stored fleet.Stored) bool { return yield(stored, nil) })
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(fleet.Stored{}, failed("reading", chain, err))
		}
	}
}

func (s *Store) lines(ctx context.Context, root *os.Root, chain fleet.Chain, after uint64, yield func(fleet.Stored) bool) error {
	now, err := root.Stat(activeName(chain))
	if err == nil && s.isEnd(chain, after, now) {
		return nil
	}
	in := segment.NewStream(root.FS(), folder(chain))
	defer in.Close() //nolint:errcheck // only read
	if err := in.SkipTo(after+1, seqOf); err != nil {
		return err
	}
	for position := uint64(0); ; {
		line, err := in.Next()
		if errors.Is(err, io.EOF) { // half a line at the end is being written, or was left by a crash
			s.mu.Lock()
			s.read[chain] = chainEnd{position, now}
			s.mu.Unlock()
			return nil
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		position++
		if line.First {
			if seq, err := seqOf(line.Bytes); err == nil {
				position = max(position, seq)
			}
		}
		if position > after && !yield(fleet.Stored{Chain: chain, Position: position, Line: line.Bytes}) {
			return nil
		}
	}
}

// isEnd reports whether a position was the end of a chain and no line follows it now.
func (s *Store) isEnd(chain fleet.Chain, position uint64, now os.FileInfo) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.read[chain]
	return end.active != nil && end.position == position && os.SameFile(end.active, now) && end.active.Size() == now.Size()
}

// seqOf returns the number of the entry in a line.
func seqOf(line []byte) (uint64, error) {
	entry, err := ledger.ParseLine(line)
	return entry.Seq, err
}

// openRegular opens a file. Opening a pipe would block.
func openRegular(root *os.Root, name string, flag int) (*os.File, error) {
	info, err := root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return nil, err
	}
	return root.OpenFile(name, flag, 0)
}

// lastHead returns the head of a chain from its last whole line.
func lastHead(root *os.Root, chain fleet.Chain) (fleet.Head, error) {
	files, err := segments(root, chain)
	if errors.Is(err, fs.ErrNotExist) {
		return fleet.Head{}, nil
	}
	if err != nil {
		return fleet.Head{}, err
	}
	line, err := lastLine(root, activeName(chain))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fleet.Head{}, err
	}
	if n := len(files.closed); len(line) == 0 && n > 0 { // the process ended between closing a segment and beginning the next
		if last := files.closed[n-1]; last.Packed {
			line, err = lastPacked(root, last)
		} else {
			line, err = lastLine(root, last.Name)
		}
		if err != nil {
			return fleet.Head{}, err
		}
	}
	if len(line) == 0 {
		return fleet.Head{}, nil
	}
	return fleet.HeadOf(chain, line)
}

// lastLine returns the last whole line of a file, or nothing.
func lastLine(root *os.Root, name string) ([]byte, error) {
	f, err := openRegular(root, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	for length := int64(64 << 10); ; length *= 8 {
		from := max(0, info.Size()-length)
		tail := make([]byte, info.Size()-from)
		if _, err := f.ReadAt(tail, from); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		tail = tail[:bytes.LastIndexByte(tail, '\n')+1]
		begin := bytes.LastIndexByte(bytes.TrimSuffix(tail, []byte("\n")), '\n') + 1
		if begin > 0 || from == 0 || length > 2*format.MaxLine {
			return bytes.TrimSuffix(tail[begin:], []byte("\n")), nil
		}
	}
}

// lastPacked returns the last line of a compressed segment.
func lastPacked(root *os.Root, file segment.File) (last []byte, err error) {
	err = eachLine(root, file, func(line []byte) error {
		last = append(last[:0], line...)
		return nil
	})
	return last, err
}

// eachLine calls use with the whole lines of a segment.
func eachLine(root *os.Root, file segment.File, use func(line []byte) error) error {
	in, err := segment.OpenFile(root.FS(), file.Name, file.Packed)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	for lines := segment.NewLineBuffer(in, 64<<10); ; {
		line, _, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = use(line)
		}
		if err != nil {
			return err
		}
	}
}
