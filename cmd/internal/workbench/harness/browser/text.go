package browser

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor/internal/truncate"
)

// clean makes text of a page safe to show: it removes control characters except line breaks and tabs, and invisible
// characters, which can hide text from people or change its order, and truncates it to max bytes.
func clean(s string, max int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.ContainsFunc(s, hidden) {
		s = strings.Map(func(r rune) rune {
			if hidden(r) {
				return -1
			}
			return r
		}, s)
	}
	return truncate.Text(s, max)
}

// hidden reports whether a character is removed. Joiners are kept, because scripts such as Persian need them.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d':
		return false
	case r >= 0xE0000 && r <= 0xE0FFF: // tags and further variation selectors
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || r == '\u2028' || r == '\u2029'
}

// quote returns a string of a client or page for an error message, escaped and shortened.
func quote(s string) string {
	return strconv.QuoteToASCII(truncate.Text(strings.ToValidUTF8(s, "\uFFFD"), 120))
}
