package near

import (
	"strings"
	"unicode"
)

// Lengths from which one and two edits count as a misspelling, in characters of the shorter name.
const (
	oneSlip  = 3
	twoSlips = 7
)

// Misspelt reports whether name is probably a misspelling of known. It is stricter than [Names], because a caller may refuse a name
// because of it: it allows at most one insertion, deletion, replacement or swap of neighbours, two in longer names. It ignores case,
// underscores and hyphens. Names that differ only in their digits, such as line1 and line2, are different names.
func Misspelt(name, known string) bool {
	if len(name) > maxLen || len(known) > maxLen {
		return false
	}
	a, b := fold(name), fold(known)
	if a == b {
		return true
	}
	if withoutDigits(a) == withoutDigits(b) {
		return false
	}
	x, y := []rune(a), []rune(b)
	switch shorter := min(len(x), len(y)); {
	case shorter < oneSlip:
		return false
	case shorter < twoSlips:
		return distance(x, y) <= 1
	default:
		return distance(x, y) <= 2
	}
}

func withoutDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, s)
}
