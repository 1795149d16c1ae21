package plan

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/truncate"
)

// Hidden reports whether a reader may not recognize a character: controls, direction marks, joiners, fillers, private
// use, and spaces other than U+0020.
func Hidden(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case r == utf8.RuneError, r == '\u2800': // the second is the braille pattern without dots
		return true
	default:
		return !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	}
}

// maxMarks is the number of combining marks per letter that are shown; more could overlap other lines.
const maxMarks = 2

// visible returns a text in which the characters that a terminal would interpret or hide are written as code points.
func visible(s string) string {
	var out strings.Builder
	marks := 0
	for i, r := range s {
		marks++
		if !unicode.In(r, unicode.Mn, unicode.Me) {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(r)):
			fmt.Fprintf(&out, "<%02X>", s[i])
		case r == '\t':
			out.WriteString("    ")
		case Hidden(r) || marks > maxMarks:
			fmt.Fprintf(&out, "<U+%04X>", r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// width returns the maximum number of columns of a text: non-ASCII characters may be two columns wide.
func width(s string) int {
	n := 0
	for _, r := range s {
		if n++; r >= utf8.RuneSelf {
			n++
		}
	}
	return n
}

// cut limits a text at a rune boundary and marks the cut.
func cut(s string, most int) string {
	return truncate.Text(s, most+len(truncate.Mark))
}
