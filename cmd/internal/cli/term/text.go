package term

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
)

// Printable makes text of a peer safe for a terminal: runes that are not printable become escapes.
func Printable(text string) string {
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

// Truncate truncates text to width runes, the last of which is then "…".
func Truncate(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return string(runes[:width-1]) + "…"
}

// OneLine replaces each run of white space, line breaks included, by one space.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// ContainsFold reports whether list contains word, ignoring case.
func ContainsFold(list []string, word string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return strings.EqualFold(w, word) })
}

// MatchFold reports whether list contains *word, ignoring case, and then sets *word as list spells it, so that it can be compared exactly.
func MatchFold(list []string, word *string) bool {
	i := slices.IndexFunc(list, func(w string) bool { return strings.EqualFold(w, *word) })
	if i < 0 {
		return false
	}
	*word = list[i]
	return true
}

// Strings converts a list of a string type to strings.
func Strings[T ~string](list []T) []string {
	names := make([]string, 0, len(list))
	for _, word := range list {
		names = append(names, string(word))
	}
	return names
}

// RetryWords returns retry advice in one to three words, for a table.
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

// Pad appends spaces up to width runes. Pad before adding colour: escape sequences would be counted.
func Pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// JoinWords joins a list as in "a, b or c".
func JoinWords(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// Colors adds colour to text for a terminal. The zero Colors adds none.
type Colors struct{ On bool }

// ColorModes are the values of --color.
var ColorModes = []string{"auto", "always", "never"}

func (c Colors) with(code, text string) string {
	if !c.On || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold returns text in bold.
func (c Colors) Bold(text string) string { return c.with("1", text) }

// Faint returns text in a faint colour.
func (c Colors) Faint(text string) string { return c.with("2", text) }

// Bad returns text in the colour for failures.
func (c Colors) Bad(text string) string { return c.with("31", text) }

// Good returns text in the colour for success.
func (c Colors) Good(text string) string { return c.with("32", text) }

// Warn returns text in the colour for warnings.
func (c Colors) Warn(text string) string { return c.with("33", text) }

// Name returns text in the colour for names.
func (c Colors) Name(text string) string { return c.with("36", text) }

// Colors returns the colours according to --color, then NO_COLOR (https://no-color.org), then whether standard output is a terminal.
func (env *Env) Colors() Colors {
	switch env.ColorMode {
	case "always":
		return Colors{On: true}
	case "never":
		return Colors{}
	}
	return Colors{On: env.Terminal && env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"}
}
