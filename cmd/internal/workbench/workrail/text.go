package workrail

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor/internal/redact"
)

// Text of others is shown to models next to lines of this server, so it must not look like one of them: it holds no characters that hide
// or steer, and has its own lines only where the server indents them.

// oneLine returns a text on one line, without characters that hide or steer.
func oneLine(text string) string {
	text = redact.Chars(text)
	if !strings.ContainsAny(text, "\n\t") {
		return text
	}
	return strings.Join(strings.Fields(text), " ")
}

// indented returns a text that may have several lines, of which all but the first are indented.
func indented(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(redact.Chars(text)), "\n", "\n  ")
}

// soundEvents says how many events are sound.
func soundEvents(n uint64) string {
	if n == 1 {
		return "1 event is sound"
	}
	return fmt.Sprintf("%d events are sound", n)
}

// fileName returns the name of a file for a text, quoted if it has characters that cannot be seen.
func fileName(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}
