package plan

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cut bounds a text on a rune border and marks it.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// maxMarks is how many marks a letter may carry before they are taken for a way to paint over other lines.
const maxMarks = 2

// visible writes out what a terminal would obey or hide instead of showing it. quote is given every such character's name.
func visible(s string, quote func(string) string) string {
	var b strings.Builder
	marks := 0
	for i, r := range s {
		if unicode.In(r, unicode.Mn, unicode.Me) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			b.WriteString(quote(fmt.Sprintf("<%02X>", s[i])))
		case r == '\t':
			b.WriteString("    ")
		case hidden(r) || marks > maxMarks:
			b.WriteString(quote(fmt.Sprintf("<U+%04X>", r)))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
