package redact

// Terminal control sequences, ECMA-48: ESC, a letter, and a body. The whole sequence is removed: a part of one, such as "[31m",
// would be noise.

const (
	esc = 0x1b
	bel = 0x07
	// stringLimit bounds the body of a control string (title, hyperlink, device string).
	stringLimit = 4096
)

// sequence returns the length of the sequence that the ESC at i introduces.
func sequence(s string, i int) int {
	if i+1 == len(s) {
		return 1
	}
	switch kind := s[i+1]; {
	case kind == '[':
		return csiEnd(s, i+2) - i
	case kind == ']', kind == 'P', kind == 'X', kind == '^', kind == '_':
		return stringEnd(s, i+2) - i
	case kind >= 0x20 && kind <= 0x2f: // ESC ( B: designate a character set
		end := i + 2
		for end < len(s) && s[end] >= 0x20 && s[end] <= 0x2f {
			end++
		}
		if end < len(s) && s[end] >= 0x30 && s[end] < 0x7f {
			end++
		}
		return end - i
	case kind < 0x30 || kind > 0x7e: // ESC without a sequence
		return 1
	}
	return 2
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
		case c == bel:
			return j + 1
		case c == esc && j+1 < len(s) && s[j+1] == '\\':
			return j + 2
		case c < ' ':
			return i
		}
	}
	return i
}
