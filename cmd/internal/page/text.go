package page

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/candor-mcp/candor/internal/truncate"
)

// Line returns one line of text in which control characters, bidi and zero-width characters, line ends and invalid bytes are written as
// Go escapes. See [Block] for several lines.
func Line(s string) string { return escape(s, "") }

// Block is [Line] for text of several lines: it keeps line ends and tabs.
func Block(s string) string { return escape(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t") }

// Bounded is [Block] for the first bytes of a text, cut between characters.
func Bounded(s string, most int) string {
	if len(s) <= most {
		return Block(s)
	}
	return Block(s[:truncate.Border(s, most)]) + " …"
}

// maxMarks is the maximum number of combining marks after a letter. Languages need three; more would cover other lines.
const maxMarks = 3

func escape(s, keep string) string {
	var b strings.Builder
	marks := 0
	for i, width := 0, 0; i < len(s); i += width {
		var r rune
		r, width = utf8.DecodeRuneInString(s[i:])
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && width == 1, r < ' ' && !strings.ContainsRune("\n\r\t", r):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsPrint(r) && marks <= maxMarks, strings.ContainsRune(keep, r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}
