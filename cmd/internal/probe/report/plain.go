package report

import (
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/cmd/internal/page"
)

// plain is [page.Line].
func plain(s string) string { return page.Line(s) }

// block is [page.Block].
func block(s string) string { return page.Block(s) }

// bounded is [page.Bounded].
func bounded(s string, most int) string { return page.Bounded(s, most) }

// shorten cuts the middle of a text that has more characters than limit. The end stays, because it often has the reason of a failure.
func shorten(s string, limit int) string {
	runes := []rune(s)
	if len(runes) <= limit {
		return s
	}
	head := limit * 3 / 4
	left, right := string(runes[:max(head-2, 0)]), string(runes[len(runes)-max(limit-head-1, 0):])
	return strings.TrimRight(left, " ") + " … " + strings.TrimLeft(right, " ")
}

// wrap breaks a text into lines of at most limit characters, at spaces if possible. It returns at least one line.
func wrap(s string, limit int) []string {
	limit = max(limit, 1)
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= limit:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
		for utf8.RuneCountInString(line) > limit {
			runes := []rune(line)
			lines = append(lines, string(runes[:limit]))
			line = string(runes[limit:])
		}
	}
	return append(lines, line)
}
