package ledger

import (
	"errors"
	"io"
	"io/fs"
	"slices"
)

// rawLine is one line of a chain and where it stands.
type rawLine struct {
	bytes  []byte // without the line feed; good until the next line is read
	file   string
	offset int64
	first  bool // the first of its file
	number int  // of its segment
}

// lineStream gives the lines of one chain in order, across its segments. It may be asked again after the end: it then sees what was
// written meanwhile, through rotation and compression. It takes no lock and never holds up the writer.
type lineStream struct {
	fsys   fs.FS
	chain  string
	lines  *lineBuffer
	file   io.Closer // nil between two segments
	name   string    // of the open segment
	number int       // of the open or last read segment
	closed bool      // the open segment gets no more lines
	fresh  bool      // no line of it was returned yet
	skip   int       // segments up to this number are passed over
	dead   bool      // given up
	gap    bool      // numbers are missing between the open segment and the one before
}

func newLineStream(fsys fs.FS, chain string) *lineStream {
	return &lineStream{fsys: fsys, chain: chain, lines: newLineBuffer(nil, entryBuffer)}
}

// next returns the next whole line. io.EOF says that there is none now, errCorrupt that there is something else.
func (s *lineStream) next() (rawLine, error) {
	for {
		if s.dead {
			return rawLine{}, io.EOF
		}
		if s.file == nil {
			if err := s.open(); err != nil {
				return rawLine{}, err
			}
		}
		text, offset, err := s.lines.next()
		if err == nil {
			line := rawLine{bytes: text, file: s.name, offset: offset, first: s.fresh, number: s.number}
			s.fresh = false
			return line, nil
		}
		if !errors.Is(err, io.EOF) {
			return rawLine{file: s.name, offset: offset}, err
		}
		more, err := s.turn()
		if err != nil || !more {
			return rawLine{file: s.name, offset: offset}, err
		}
	}
}

// turn decides what follows the end of a file: more of it, the next one, or nothing.
func (s *lineStream) turn() (more bool, err error) {
	if !s.closed {
		list, err := closedSegments(s.fsys, s.chain)
		if err != nil {
			return false, err
		}
		s.closed = len(list) > 0 && list[len(list)-1].number >= s.number
		if s.closed {
			return true, nil // it was renamed while it was open: what came last may not have been read
		}
		s.lines.release()
		return false, io.EOF
	}
	if len(s.lines.rest()) > 0 {
		return false, errTornInside
	}
	return true, s.close()
}

// errTornInside says that a closed segment ends in half a line.
var errTornInside = errors.New("a closed segment ends in half a line")

func (s *lineStream) close() error {
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return file.Close()
}

// abandon passes over what is left of the open segment.
func (s *lineStream) abandon() error {
	s.dead = !s.closed
	return s.close()
}

// open opens the segment behind the last one. A segment that is renamed or packed between looking and opening is looked for again.
func (s *lineStream) open() error {
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

// segments lists the closed segments. A list that is read while a segment is being packed may miss both of its names, so that one with
// a gap behind the last segment is read again.
func (s *lineStream) segments() (list []segmentFile, err error) {
	for range 4 {
		if list, err = closedSegments(s.fsys, s.chain); err != nil {
			return nil, err
		}
		done := max(s.number, s.skip)
		i := slices.IndexFunc(list, func(f segmentFile) bool { return f.number > done })
		if i < 0 || list[i].number == done+1 {
			break
		}
	}
	return list, nil
}

// openBehind tries once. last says that it tried the active segment.
func (s *lineStream) openBehind(list []segmentFile) (last bool, err error) {
	for _, seg := range list {
		if seg.number > max(s.number, s.skip) {
			file, err := openSegment(s.fsys, seg.name, seg.packed)
			if err == nil {
				s.take(file, seg.name, seg.number, true)
			}
			return false, err
		}
	}
	name := s.chain + "/" + activeName
	file, err := openSegment(s.fsys, name, false)
	if err != nil {
		return true, err
	}
	// If it was rotated between the list and the opening, this is not the segment it seems to be.
	again, err := closedSegments(s.fsys, s.chain)
	if err != nil || lastNumber(again) != lastNumber(list) {
		return true, errors.Join(err, file.Close())
	}
	s.take(file, name, 1+lastNumber(list), false)
	return true, nil
}

func lastNumber(list []segmentFile) int {
	if len(list) == 0 {
		return 0
	}
	return list[len(list)-1].number
}

func (s *lineStream) take(file io.ReadCloser, name string, number int, closed bool) {
	s.gap = number != s.number+1
	s.lines.reset(file)
	s.file, s.name, s.number, s.closed, s.fresh = file, name, number, closed, true
}
