package wire

import (
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/wireflaw"
)

// str scans the string that opens at i. It returns the index after its closing quote, or stop,
// and whether the string holds an escape.
//
// Most bytes of most messages are read here. The loop advances by whole words, because restarting
// after every escape would make each word depend on the one before.
func (s *scanner) str(i int) (end int, escaped bool) {
	data := s.data
	i++
	skip := i // bytes before skip belong to an escape
	last := i // position of the last escape
	for long := i + longRun; i+8 <= len(data); {
		for m := unplain(load(data, i)); m != 0; m &= m - 1 {
			at := i + first(m)
			if at < skip {
				continue
			}
			if data[at] == '"' {
				return at + 1, escaped
			}
			long = at + nextRun(at-last)
			last = at
			escaped = escaped || data[at] == '\\'
			if shortEscape(data, at) {
				skip = at + 2
				continue
			}
			if skip = s.oddity(at); skip == stop {
				return stop, escaped
			}
			i = skip - 8
			break
		}
		if i += 8; i >= long {
			i = plainBlocks(data, i)
		}
	}
	return s.strTail(max(i, skip), escaped)
}

// nextRun returns the number of plain bytes after which larger steps are faster. A long run, as in text with lines, is probably
// followed by another.
func nextRun(behind int) int {
	if behind >= longRun/2 {
		return 0
	}
	return longRun
}

// strTail is str for the last few bytes of the text, from inside a string.
func (s *scanner) strTail(i int, escaped bool) (int, bool) {
	for i < len(s.data) && s.data[i] != '"' {
		escaped = escaped || s.data[i] == '\\'
		if isPlain(s.data[i]) {
			i++
		} else if i = s.oddity(i); i == stop {
			return stop, escaped
		}
	}
	if i >= len(s.data) {
		return s.fail(wireflaw.Truncated, i), escaped
	}
	return i + 1, escaped
}

func shortEscape(b []byte, i int) bool {
	return b[i] == '\\' && i+1 < len(b) && shortEscapes[b[i+1]]
}

// oddity scans an escape, a control character or a non-ASCII run, and returns the index after it.
func (s *scanner) oddity(i int) int {
	switch c := s.data[i]; {
	case c == '\\':
		return s.escape(i)
	case c < ' ':
		s.note(wireflaw.ControlCharacter, i)
		return i + 1
	default:
		return s.runes(i)
	}
}

// runes checks a run of bytes of 0x80 and above. An invalid byte is noted and skipped.
func (s *scanner) runes(i int) int {
	for i < len(s.data) && s.data[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(s.data[i:])
		if r == utf8.RuneError && size == 1 {
			s.note(wireflaw.BadUTF8, i)
		}
		i += size
	}
	return i
}

// escape scans the escape at i and returns the index after it.
func (s *scanner) escape(i int) int {
	if i+1 >= len(s.data) {
		return s.fail(wireflaw.Truncated, i+1)
	}
	c := s.data[i+1]
	if shortEscapes[c] {
		return i + 2
	}
	if c == 'u' {
		return s.unicodeEscape(i)
	}
	return s.fail(wireflaw.NotJSON, i+1)
}

var shortEscapes = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

// unicodeEscape scans \uXXXX at i, and its other half if it is the first of a pair.
func (s *scanner) unicodeEscape(i int) int {
	unit, bad := hex4(s.data, i+2)
	if bad >= 0 {
		return s.fail(wireflaw.NotJSON, bad)
	}
	if !isSurrogate(unit) {
		return i + 6
	}
	if isHighSurrogate(unit) && lowSurrogateAt(s.data, i+6) {
		return i + 12
	}
	if !s.allowLone {
		s.note(wireflaw.LoneSurrogate, i)
	}
	return i + 6
}

func isSurrogate(unit rune) bool { return unit&^0x7ff == 0xd800 }

func isHighSurrogate(unit rune) bool { return unit&^0x3ff == 0xd800 }

// lowSurrogateAt reports whether the second half of a pair is written at i. A broken escape
// does not count; the scan reports it later.
func lowSurrogateAt(b []byte, i int) bool {
	if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
		return false
	}
	unit, bad := hex4(b, i+2)
	return bad < 0 && unit&^0x3ff == 0xdc00
}

// hex4 reads four hexadecimal digits at i. bad is the index of the first byte that is not one, or
// len(b) if the bytes end, or negative if all is well.
func hex4(b []byte, i int) (unit rune, bad int) {
	for j := i; j < i+4; j++ {
		if j >= len(b) {
			return 0, len(b)
		}
		d := hexDigit(b[j])
		if d < 0 {
			return 0, j
		}
		unit = unit<<4 | d
	}
	return unit, -1
}

func hexDigit(c byte) rune {
	switch lower := c | 0x20; {
	case isDigit(c):
		return rune(c - '0')
	case lower >= 'a' && lower <= 'f':
		return rune(lower-'a') + 10
	default:
		return -1
	}
}

// unescape appends the characters of a scanned string. Half of a surrogate pair becomes U+FFFD.
func unescape(dst, inside []byte) []byte {
	for i := 0; i < len(inside); {
		j := i
		for j < len(inside) && inside[j] != '\\' {
			j++
		}
		dst = append(dst, inside[i:j]...)
		if j+1 >= len(inside) {
			return dst
		}
		dst, i = unescapeOne(dst, inside, j)
	}
	return dst
}

// unescapeOne reads the escape at i, which has at least one byte behind its backslash.
func unescapeOne(dst, inside []byte, i int) ([]byte, int) {
	switch c := inside[i+1]; c {
	case 'b':
		return append(dst, '\b'), i + 2
	case 'f':
		return append(dst, '\f'), i + 2
	case 'n':
		return append(dst, '\n'), i + 2
	case 'r':
		return append(dst, '\r'), i + 2
	case 't':
		return append(dst, '\t'), i + 2
	case 'u':
		return unescapeRune(dst, inside, i)
	default:
		return append(dst, c), i + 2
	}
}

func unescapeRune(dst, inside []byte, i int) ([]byte, int) {
	unit, bad := hex4(inside, i+2)
	if bad >= 0 {
		return utf8.AppendRune(dst, utf8.RuneError), len(inside)
	}
	if isHighSurrogate(unit) && lowSurrogateAt(inside, i+6) {
		low, _ := hex4(inside, i+8)
		return utf8.AppendRune(dst, 0x10000+(unit-0xd800)<<10+(low-0xdc00)), i + 12
	}
	return utf8.AppendRune(dst, unit), i + 6 // AppendRune writes U+FFFD for a surrogate
}
