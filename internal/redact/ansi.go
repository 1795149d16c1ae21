package redact

import "unicode/utf8"

// Terminal control sequences, ECMA-48: an introducer as ESC and a letter, as one C1 code point, or
// as one raw C1 byte. The whole sequence is removed: a part of one, such as "[31m", would be noise.

const (
	esc = 0x1b
	bel = 0x07
	// stringLimit bounds the body of a control string (title, hyperlink, device string).
	stringLimit = 4096
)

// sequence returns the length of the control character at i, of size bytes, including the
// sequence it introduces.
func sequence(s string, i int, r rune, size int) int {
	body := i + size
	kind := byte(r - 0x40) // C1 0x9B is ESC [
	if r == esc {
		if body == len(s) {
			return size
		}
		kind = s[body]
		body++
	} else if r < 0x80 {
		return size
	}
	return max(size, sequenceEnd(s, body, kind, r == esc)-i)
}

// rawControl is like sequence for a C1 introducer that is one byte and not UTF-8.
func rawControl(s string, i int) int {
	if c := s[i]; c == 0x9b || c == 0x9d || c == 0x90 {
		return sequenceEnd(s, i+1, c-0x40, false) - i
	}
	return 0
}

// sequenceEnd returns the end of a sequence of the kind whose body begins at i.
func sequenceEnd(s string, i int, kind byte, seven bool) int {
	switch {
	case kind == '[':
		return csiEnd(s, i)
	case kind == ']', kind == 'P', kind == 'X', kind == '^', kind == '_':
		return stringEnd(s, i)
	case seven && kind >= 0x20 && kind <= 0x2f: // ESC ( B: designate a character set
		for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
			i++
		}
		if i < len(s) && s[i] >= 0x30 && s[i] < 0x7f {
			i++
		}
		return i
	case seven && (kind < 0x30 || kind > 0x7e): // ESC without a sequence
		return i - 1
	}
	return i
}

// csiEnd skips parameters, intermediates and the final byte.
func csiEnd(s string, i int) int {
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x3f {
		i++
	}
	if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7e {
		i++
	}
	return i
}

// stringEnd skips to the terminator, BEL or ST. If a string does not end on its line, only its
// introducer is removed. It stops at any other control character, so that
// many introducers take linear time.
func stringEnd(s string, i int) int {
	for j := i; j < min(len(s), i+stringLimit); j++ {
		switch c := s[j]; {
		case c == bel, c == 0x9c && !utf8.RuneStart(s[j]) && s[j-1] < utf8.RuneSelf:
			return j + 1
		case c == 0xc2 && j+1 < len(s) && s[j+1] == 0x9c:
			return j + 2
		case c == esc && j+1 < len(s) && s[j+1] == '\\':
			return j + 2
		case c < ' ', c == 0xc2 && j+1 < len(s) && s[j+1] < 0xa0:
			return i
		}
	}
	return i
}
