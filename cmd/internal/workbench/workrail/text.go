package workrail

import (
	"fmt"
	"strings"

	"github.com/candor-mcp/candor/internal/redact"
)

// Third-party text is shown to models next to lines of this server and must not look like one of them: it has no
// invisible or control characters, and its line breaks are kept only where the server indents the lines.

// oneLine returns a text on one line, without invisible and control characters.
func oneLine(text string) string {
	text = redact.Chars(text)
	if !strings.ContainsAny(text, "\n\t") {
		return text
	}
	return strings.Join(strings.Fields(text), " ")
}

// indented returns a text with all lines except the first indented.
func indented(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(redact.Chars(text)), "\n", "\n  ")
}

// soundEvents formats a number of sound events.
func soundEvents(n uint64) string {
	if n == 1 {
		return "1 event is sound"
	}
	return fmt.Sprintf("%d events are sound", n)
}
