package wire

import (
	"bytes"

	"github.com/candor-mcp/candor/internal/wireflaw"
)

// scanner walks one JSON text once, from left to right, and checks the whole
// grammar. Its rules:
//
//   - Every step takes its first index and returns the index after the text that it read, or stop
//     if the scan must end; the reason is then in halt.
//   - A flaw that leaves the structure readable is noted and the scan continues, so that an id
//     after it is still found.
//   - Nothing is copied. Time is linear in the text; memory is constant except for objects with
//     more than smallObject members, which borrow a table of their keys.
type scanner struct {
	data      []byte
	maxDepth  int
	allowLone bool
	depth     int
	found     wireflaw.Set
	noted     Malformation // the first flaw that did not end the scan
	halt      Malformation // the flaw that did
	marks     markStack
}

const stop = -1

// init prepares a zero scanner in place: copying one would cost as much as scanning a short
// message.
func (s *scanner) init(data []byte, lim Limits) {
	s.data, s.maxDepth, s.allowLone = data, lim.maxDepth(), lim.AllowLoneSurrogates
}

// begin skips a byte order mark and notes it.
func (s *scanner) begin() int {
	if bytes.HasPrefix(s.data, bom) {
		s.note(wireflaw.BOM, 0)
		return len(bom)
	}
	return 0
}

var bom = []byte("\xef\xbb\xbf")

// verdict returns the flaw that ended the scan, or else the first one.
func (s *scanner) verdict() Malformation {
	if s.halt.Flaw != wireflaw.None {
		return s.halt
	}
	return s.noted
}

// note records a flaw that does not end the scan.
func (s *scanner) note(f wireflaw.Flaw, at int) {
	if s.noted.Flaw == wireflaw.None {
		s.noted = Malformation{Flaw: f, Offset: at}
	}
	s.found = s.found.With(f)
}

// fail ends the scan. A text that ends early is always truncated.
func (s *scanner) fail(f wireflaw.Flaw, at int) int {
	if at >= len(s.data) {
		f, at = wireflaw.Truncated, len(s.data)
	}
	s.halt = Malformation{Flaw: f, Offset: at}
	s.found = s.found.With(f)
	return stop
}

// text scans a whole text from i: one value with white space around it. Members of a root
// object are written to root if it is not nil. It returns the span of the value, which is
// empty after a halt.
func (s *scanner) text(i int, root *index) span {
	i = s.space(i)
	begin := i
	if i < len(s.data) && s.data[i] == '[' {
		root = nil // the first message of a batch is not the message
	}
	if i = s.value(i, root); i == stop {
		return span{}
	}
	end := i
	if i = s.space(i); i < len(s.data) {
		s.fail(wireflaw.TrailingData, i)
	}
	return spanOf(begin, end)
}

func (s *scanner) space(i int) int {
	for i < len(s.data) && isSpace(s.data[i]) {
		i++
	}
	return i
}

// isSpace tests for the common case first.
func isSpace(c byte) bool { return c <= ' ' && (c == ' ' || c == '\n' || c == '\t' || c == '\r') }

// value scans the value that begins at i. An object writes to idx, and so does an object that a list begins with.
func (s *scanner) value(i int, idx *index) int {
	if i >= len(s.data) {
		return s.fail(wireflaw.Truncated, i)
	}
	switch c := s.data[i]; c {
	case '"':
		i, _ = s.str(i)
		return i
	case '{':
		return s.object(i, idx)
	case '[':
		return s.array(i, idx)
	case 't':
		return s.literal(i, "true")
	case 'f':
		return s.literal(i, "false")
	case 'n':
		return s.literal(i, "null")
	default:
		return s.number(i)
	}
}

func (s *scanner) literal(i int, word string) int {
	for j := range len(word) {
		if i+j >= len(s.data) || s.data[i+j] != word[j] {
			return s.fail(wireflaw.NotJSON, i+j)
		}
	}
	return i + len(word)
}

// number scans RFC 8259's number: an optional minus, no leading zero, optional fraction and
// exponent.
func (s *scanner) number(i int) int {
	if s.data[i] == '-' {
		i++
	}
	if i < len(s.data) && s.data[i] == '0' {
		i++
	} else if i = s.digits(i); i == stop {
		return stop
	}
	if i < len(s.data) && s.data[i] == '.' {
		if i = s.digits(i + 1); i == stop {
			return stop
		}
	}
	if i < len(s.data) && s.data[i]|0x20 == 'e' {
		i++
		if i < len(s.data) && (s.data[i] == '+' || s.data[i] == '-') {
			i++
		}
		return s.digits(i)
	}
	return i
}

func (s *scanner) digits(i int) int {
	begin := i
	for i < len(s.data) && isDigit(s.data[i]) {
		i++
	}
	if i == begin {
		return s.fail(wireflaw.NotJSON, i)
	}
	return i
}

func isDigit(c byte) bool { return c-'0' < 10 }

// array scans from '['. Members of a first element that is an object are written to idx.
func (s *scanner) array(i int, idx *index) int {
	if s.depth >= s.maxDepth {
		return s.tooDeep(i)
	}
	s.depth++
	i = s.space(i + 1)
	if i < len(s.data) && s.data[i] == ']' {
		s.depth--
		return i + 1
	}
	if i < len(s.data) && s.data[i] != '{' {
		idx = nil
	}
	for ; ; idx = nil {
		if i = s.value(i, idx); i == stop {
			return stop
		}
		i = s.space(i)
		switch {
		case i < len(s.data) && s.data[i] == ',':
			i = s.space(i + 1)
		case i < len(s.data) && s.data[i] == ']':
			s.depth--
			return i + 1
		default:
			return s.fail(wireflaw.NotJSON, i)
		}
	}
}

// object scans from '{' and notes duplicate names. A member joins idx only after its
// comma or brace, because a number at the end of a cut text may be incomplete.
func (s *scanner) object(i int, idx *index) int {
	if s.depth >= s.maxDepth {
		return s.tooDeep(i)
	}
	s.depth++
	names := s.openNames()
	i = s.space(i + 1)
	if i < len(s.data) && s.data[i] == '}' {
		s.depth--
		return i + 1
	}
	for {
		next := s.member(i, &names, idx)
		if next == stop {
			s.closeNames(&names)
			return stop
		}
		if s.data[next-1] == '}' {
			s.depth--
			s.closeNames(&names)
			return next
		}
		i = s.space(next)
	}
}

// member scans one member from its name and returns the index after the comma or brace that
// ends it.
func (s *scanner) member(i int, names *nameSet, idx *index) int {
	if i >= len(s.data) || s.data[i] != '"' {
		return s.fail(wireflaw.NotJSON, i)
	}
	nameEnd, escaped := s.str(i)
	if nameEnd == stop {
		return stop
	}
	name := spanOf(i, nameEnd)
	if !s.addName(names, name, escaped) {
		s.note(wireflaw.DuplicateKey, i)
	}
	i = s.space(nameEnd)
	if i >= len(s.data) || s.data[i] != ':' {
		return s.fail(wireflaw.NotJSON, i)
	}
	begin := s.space(i + 1)
	end := s.value(begin, idx.child(s.data, name, begin))
	if end == stop {
		return stop
	}
	i = s.space(end)
	if i >= len(s.data) || (s.data[i] != ',' && s.data[i] != '}') {
		return s.fail(wireflaw.NotJSON, i)
	}
	if idx != nil {
		idx.add(name, spanOf(begin, end))
	}
	return i + 1
}

// tooDeep notes the flaw and skips the value without recursion, so that the rest of the text is
// still read. In skipped parts only the brackets are checked.
func (s *scanner) tooDeep(i int) int {
	s.note(wireflaw.TooDeep, i)
	for level := 0; i < len(s.data); {
		switch s.data[i] {
		case '"':
			if i, _ = s.str(i); i == stop {
				return stop
			}
			continue
		case '{', '[':
			level++
		case '}', ']':
			if level--; level == 0 {
				return i + 1
			}
		}
		i++
	}
	return s.fail(wireflaw.Truncated, i)
}
