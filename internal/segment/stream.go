package segment

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"sort"

	"github.com/candor-mcp/candor/internal/segment/format"
)

// Line is one line of a chain with its position.
type Line struct {
	Bytes  []byte // without the line feed; valid until the next line is read
	File   string
	Offset int64
	First  bool // it is the first of its file
}

// Stream reads the lines of one chain in order, across its segments. It may be read again after the end and then
// returns lines that were written meanwhile, through rotation and compression. It takes no lock and never blocks the
// writer.
type Stream struct {
	fsys   fs.FS
	chain  string
	Lines  *LineBuffer
	file   io.Closer // nil between two segments
	Name   string    // name of the open segment
	number int       // number of the open or last read segment
	Closed bool      // the open segment will not grow
	fresh  bool      // no line of it was returned yet
	Skip   int       // segments up to this number are skipped
	dead   bool      // abandoned
	Gap    bool      // numbers are missing between the open segment and the previous one
}

// NewStream returns a Stream of the lines of a chain.
func NewStream(fsys fs.FS, chain string) *Stream {
	return &Stream{fsys: fsys, chain: chain, Lines: NewLineBuffer(nil, entryBuffer)}
}

// SkipTo skips the closed segments that end before an entry, judged by the first lines of the segments; seqOf returns the
// number of the entry in a line. Nothing is skipped if a first line cannot be read, as while a segment is being compressed.
func (s *Stream) SkipTo(seq uint64, seqOf func(line []byte) (uint64, error)) error {
	list, err := List(s.fsys, s.chain)
	if err != nil {
		return err
	}
	later := sort.Search(len(list), func(i int) bool {
		line, err := FirstLine(s.fsys, list[i])
		if err != nil {
			return true
		}
		first, err := seqOf(line)
		return err != nil || first > seq
	})
	if later > 0 { // the entry is in the segment before the first later one, or perhaps in the active one
		s.Skip = list[later-1].Number - 1
	}
	return nil
}

// Next returns the next whole line. It returns io.EOF if there is currently none, and ErrCorrupt if the file is
// damaged.
func (s *Stream) Next() (Line, error) {
	for {
		if s.dead {
			return Line{}, io.EOF
		}
		if s.file == nil {
			if err := s.open(); err != nil {
				return Line{}, err
			}
		}
		text, offset, err := s.Lines.Next()
		if err == nil {
			line := Line{Bytes: text, File: s.Name, Offset: offset, First: s.fresh}
			s.fresh = false
			return line, nil
		}
		if !errors.Is(err, io.EOF) {
			return Line{File: s.Name, Offset: offset}, err
		}
		more, err := s.turn()
		if err != nil || !more {
			return Line{File: s.Name, Offset: offset}, err
		}
	}
}

// turn decides how to continue at the end of a file: with more of it, with the next segment, or not at all.
func (s *Stream) turn() (more bool, err error) {
	if !s.Closed {
		list, err := List(s.fsys, s.chain)
		if err != nil {
			return false, err
		}
		s.Closed = len(list) > 0 && list[len(list)-1].Number >= s.number
		if s.Closed {
			return true, nil // it was renamed while it was open, so its last lines may not have been read
		}
		s.Lines.release()
		return false, io.EOF
	}
	if len(s.Lines.Rest()) > 0 {
		return false, ErrTorn
	}
	return true, s.Close()
}

// ErrTorn means that a closed segment ends in an incomplete line.
var ErrTorn = errors.New("a closed segment ends in half a line")

// Tail returns the bytes read after the last whole line, and their offset in the open segment.
func (s *Stream) Tail() ([]byte, int64) { return s.Lines.Rest(), s.Lines.Offset }

// DiscardTail skips the bytes that [Stream.Tail] returns.
func (s *Stream) DiscardTail() { s.Lines.from, s.Lines.clean = s.Lines.to, 0 }

// Close closes the open segment, if any.
func (s *Stream) Close() error {
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return file.Close()
}

// Abandon skips the remainder of the open segment.
func (s *Stream) Abandon() error {
	s.dead = !s.Closed
	return s.Close()
}

// open opens the next segment. If a segment is renamed or compressed between listing and opening, open tries again.
func (s *Stream) open() error {
	for range 100 {
		list, err := s.segments()
		if err != nil {
			return err
		}
		last, err := s.openBehind(list)
		if errors.Is(err, fs.ErrNotExist) && !last {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			return io.EOF
		}
		if err != nil || s.file != nil {
			return err
		}
	}
	return fs.ErrNotExist
}

// segments lists the closed segments. A list that is read while a segment is being compressed may miss both of its
// names, so a list with a gap after the last segment is read again.
func (s *Stream) segments() (list []File, err error) {
	for range 4 {
		if list, err = List(s.fsys, s.chain); err != nil {
			return nil, err
		}
		done := max(s.number, s.Skip)
		i := slices.IndexFunc(list, func(f File) bool { return f.Number > done })
		if i < 0 || list[i].Number == done+1 {
			break
		}
	}
	return list, nil
}

// openBehind tries to open the next segment once. last is true if it tried the active segment.
func (s *Stream) openBehind(list []File) (last bool, err error) {
	for _, seg := range list {
		if seg.Number > max(s.number, s.Skip) {
			file, err := OpenFile(s.fsys, seg.Name, seg.Packed)
			if err == nil {
				s.take(file, seg.Name, seg.Number, true)
			}
			return false, err
		}
	}
	name := s.chain + "/" + format.ActiveSegment
	file, err := OpenFile(s.fsys, name, false)
	if err != nil {
		return true, err
	}
	// If it was rotated between listing and opening, this is a different segment.
	again, err := List(s.fsys, s.chain)
	if err != nil || LastNumber(again) != LastNumber(list) {
		return true, errors.Join(err, file.Close())
	}
	s.take(file, name, 1+LastNumber(list), false)
	return true, nil
}

// LastNumber returns the number of the last segment, 0 for an empty list.
func LastNumber(list []File) int {
	if len(list) == 0 {
		return 0
	}
	return list[len(list)-1].Number
}

func (s *Stream) take(file io.ReadCloser, name string, number int, closed bool) {
	s.Gap = number != s.number+1
	s.Lines.reset(file)
	s.file, s.Name, s.number, s.Closed, s.fresh = file, name, number, closed, true
}
