package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean removes unsafe characters. Text without any is returned unchanged.
func clean(s string) string {
	i := suspect(s, 0)
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	done := 0
	last := rune(0) // the last rune written
	for i < len(s) {
		if i > done {
			last, _ = utf8.DecodeLastRuneInString(s[done:i])
		}
		n, with := character(s, i, last)
		if n > 0 {
			b.WriteString(s[done:i])
			b.WriteString(with)
			done = i + n
			if with != "" {
				last, _ = utf8.DecodeLastRuneInString(with)
			}
		} else {
			_, n = utf8.DecodeRuneInString(s[i:])
		}
		i = suspect(s, i+n)
	}
	b.WriteString(s[done:])
	return b.String()
}

// suspect returns the next index of a character that may have to be removed: a control byte, or the
// beginning of a rune that is not printable.
func suspect(s string, i int) int {
	for i < len(s) {
		for i+8 <= len(s) && printable(s[i:i+8]) {
			i += 8
		}
		for end := min(len(s), i+8); i < end; {
			c := s[i]
			if c >= ' ' && c < 0x7f || c == '\n' || c == '\t' {
				i++
				continue
			}
			if c < utf8.RuneSelf {
				return i
			}
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size < 2 || unsafeRune(r) || isSelector(r) {
				return i
			}
			i += size
		}
	}
	return i
}

// printable reports whether all of eight bytes are printable ASCII, which is the common case. It tests them in parallel: the
// highest bit of a byte is set already, or by adding one to DEL, or by subtracting a space from a smaller byte.
func printable(s string) bool {
	_ = s[7]
	w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	const each = 0x0101010101010101
	return (w|(w+each)|(w-' '*each))&(0x80*each) == 0
}

// character returns how many bytes at i to replace, and the replacement; 0 bytes for a character
// that is kept. last is the previous rune in the result.
func character(s string, i int, last rune) (n int, with string) {
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == '\r':
		if strings.HasPrefix(s[i+1:], "\n") {
			return 1, ""
		}
		return 1, "\n"
	case r == '\n', r == '\t':
		return 0, ""
	case r == 0x2028, r == 0x2029:
		return size, "\n"
	case r == utf8.RuneError && size < 2:
		return 1, "\uFFFD"
	case r == esc:
		return sequence(s, i), ""
	case isSelector(r) && (last < utf8.RuneSelf || isSelector(last)):
		// One variation selector styles the character before it; a sequence of them can carry hidden bytes.
		return size, ""
	case unsafeRune(r):
		return size, ""
	}
	return 0, ""
}

// unsafeRune reports whether a rune above ASCII must be removed: Cc, Cf, Co, noncharacters, line
// and paragraph separators, and default ignorable code points, which are invisible.
func unsafeRune(r rune) bool {
	switch {
	case r < 0xA0:
		return true
	case r < 0xAD:
		return false
	case r >= 0xE0000: // tags, selectors, private planes, and the remainder of plane 14
		return true
	case r == 0x2028, r == 0x2029, r&0xFFFE == 0xFFFE, r >= 0xFDD0 && r <= 0xFDEF:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Co, unicode.Other_Default_Ignorable_Code_Point) ||
		r >= 0x180B && r <= 0x180F
}

func isSelector(r rune) bool { return r >= 0xFE00 && r <= 0xFE0F }
