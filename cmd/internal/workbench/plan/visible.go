package plan

import (
	"fmt"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/truncate"
)

// Hidden reports whether a person who reads a name may not recognize a character.
func Hidden(r rune) bool { return hidden(r) }

// hidden reports whether a reader may not recognize a character: controls, direction marks, joiners, fillers, private
// use, and spaces other than U+0020.
func hidden(r rune) bool {
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

// visible yields a text character by character. Characters that a terminal would interpret or hide are yielded as their
// code point, and the second value is true for them.
func visible(s string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		marks := 0
		for i, r := range s {
			if unicode.In(r, unicode.Mn, unicode.Me) {
				marks++
			} else {
				marks = 0
			}
			shown, named := string(r), false
			switch {
			case r == utf8.RuneError && !strings.HasPrefix(s[i:], shown):
				shown, named = fmt.Sprintf("<%02X>", s[i]), true
			case r == '\t':
				shown = "    "
			case hidden(r) || marks > maxMarks:
				shown, named = fmt.Sprintf("<U+%04X>", r), true
			}
			if !yield(shown, named) {
				return
			}
		}
	}
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
