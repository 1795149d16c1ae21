package rules

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// names reports whether a text names an argument, as it is spelt or in plain words: "the start date" and "date of the start" name startDate.
func names(text, field string) bool {
	if wordIn(text, field) {
		return true
	}
	parts := nameWords(field)
	if len(parts) == 1 {
		return len(parts[0]) > shortWord && (wordIn(text, parts[0]+"s") || strings.HasSuffix(parts[0], "s") && wordIn(text, strings.TrimSuffix(parts[0], "s")))
	}
	if len(parts) < 1 {
		return false
	}
	said := nameWords(escapes.Replace(text))
	for i := range said {
		near := said[i:min(len(said), i+len(parts)+wordsBetween)]
		if slices.Contains(parts, said[i]) && !slices.ContainsFunc(parts, func(part string) bool { return !slices.Contains(near, part) }) {
			return true
		}
	}
	return false
}

const (
	shortWord    = 2 // letters; shorter words are not matched with and without a plural s
	wordsBetween = 2 // other words allowed between the words of a name, as in "date of the start"
)

// escapes replaces JSON escapes, because their letters would join the next word.
var escapes = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ", `\"`, " ")

var (
	acronymEnd = lazyregexp.New(`([A-Z])([A-Z][a-z])`)
	caseChange = lazyregexp.New(`([a-z0-9])([A-Z])`)
	notWord    = lazyregexp.New(`[^\p{L}\p{N}]+`)
)

// nameWords splits a name or a text into lower-case words: startDate, start_date and "Start date" are start and date.
func nameWords(text string) []string {
	text = acronymEnd.ReplaceAllString(text, "${1} ${2}")
	text = caseChange.ReplaceAllString(text, "${1} ${2}")
	return strings.Fields(strings.ToLower(notWord.ReplaceAllString(text, " ")))
}
