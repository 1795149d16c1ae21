package plan

import (
	"fmt"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/truncate"
)

// Hidden reports a character that a person who reads a name may not see as what it is.
func Hidden(r rune) bool { return hidden(r) }

// hidden reports whether a reader may not see a character as what it is: controls, marks of direction, joiners, fillers, private use, and spaces
// that are not the space.
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

// maxMarks is how many marks a letter may carry before they are taken for a way to paint over other lines.
const maxMarks = 2

// visible yields a text character by character. What a terminal would obey or hide instead of showing it comes as its name, and the second
// value says so.
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

// width is how many columns a text takes at most: what is not ASCII may be drawn twice as wide.
func width(s string) int {
	n := 0
	for _, r := range s {
		if n++; r >= utf8.RuneSelf {
			n++
		}
	}
	return n
}

// cut bounds a text on a rune border and marks it.
func cut(s string, most int) string {
	return truncate.Text(s, most+len(truncate.Mark))
}
