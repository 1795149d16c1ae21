package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean removes what may not stay as a character. Text without any is returned as it is.
func clean(s string) string {
	i := suspect(s, 0)
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	done, selector := 0, false
	for i < len(s) {
		n, with := character(s, i)
		if r, _ := utf8.DecodeRuneInString(s[i:]); isSelector(r) {
			// A single variation selector styles the character before it; a row of them carries
			// hidden bytes.
			n, with = selectorAt(s, i, selector || i == 0)
			selector = true
		} else if n == 0 || with != "" {
			selector = false
		}
		if n > 0 {
			b.WriteString(s[done:i])
			b.WriteString(with)
			i += n
			done = i
		} else {
			_, size := utf8.DecodeRuneInString(s[i:])
			i += size
		}
		next := suspect(s, i)
		selector = selector && next == i
		i = next
	}
	b.WriteString(s[done:])
	return b.String()
}

// suspect returns the next index at which a character may have to go: a control byte, or the
// beginning of a rune that is not printable.
func suspect(s string, i int) int {
	for i < len(s) {
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
	return i
}

// character returns how many bytes at i go and what takes their place; 0 bytes for a character
// that stays.
func character(s string, i int) (n int, with string) {
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
		if n := rawControl(s, i); n > 0 {
			return n, ""
		}
		return 1, "\uFFFD"
	case unicode.Is(unicode.Cc, r):
		return sequence(s, i, r, size), ""
	case unsafeRune(r):
		return size, ""
	}
	return 0, ""
}

// unsafeRune reports whether a rune above ASCII may not stay: Cc, Cf, Co, noncharacters, line
// and paragraph separators, and what Unicode calls default ignorable, which no reader sees.
func unsafeRune(r rune) bool {
	switch {
	case r < 0xA0:
		return true
	case r < 0xAD:
		return false
	case r >= 0xE0000: // tags, selectors, private planes, and the rest of plane 14
		return true
	case r == 0x2028, r == 0x2029, r&0xFFFE == 0xFFFE, r >= 0xFDD0 && r <= 0xFDEF:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Co, unicode.Other_Default_Ignorable_Code_Point) ||
		r >= 0x180B && r <= 0x180F
}

func isSelector(r rune) bool { return r >= 0xFE00 && r <= 0xFE0F }

func selectorAt(s string, i int, repeated bool) (n int, with string) {
	if !repeated {
		return 0, ""
	}
	_, size := utf8.DecodeRuneInString(s[i:])
	return size, ""
}
