package term

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/candor-mcp/candor"
)

// Printable makes text safe for a terminal: what is not printed is shown as an escape. Entries hold text of strangers.
func Printable(text string) string {
	clean := true
	for _, r := range text {
		clean = clean && unicode.IsPrint(r)
	}
	if clean {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// Truncate shortens a text for one line.
func Truncate(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return string(runes[:width-1]) + "…"
}

// OneLine keeps a text from a peer on the line it belongs to.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func Count(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func ContainsFold(list []string, word string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return strings.EqualFold(w, word) })
}

// Strings is a list of words of a type of their own as plain words.
func Strings[T ~string](list []T) []string {
	names := make([]string, 0, len(list))
	for _, word := range list {
		names = append(names, string(word))
	}
	return names
}

// RetryWords says the advice in as few words as a table has room for.
func RetryWords(r candor.Retry) string {
	switch r.Kind() {
	case candor.RetryImmediate:
		return "now"
	case candor.RetryAfterMs:
		return fmt.Sprintf("after %d ms", r.AfterMs())
	case candor.RetryNever:
	}
	return "never"
}

// Pad fills a text up to width with spaces, by its runes: colour codes have no width, so pad first and paint then.
func Pad(text string, width int) string {
	if n := width - len([]rune(text)); n > 0 {
		return text + strings.Repeat(" ", n)
	}
	return text
}

func JoinWords(list []string) string {
	out := ""
	for i, word := range list {
		switch {
		case i == 0:
		case i == len(list)-1:
			out += " or "
		default:
			out += ", "
		}
		out += word
	}
	return out
}
