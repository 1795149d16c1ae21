package catalogue

import (
	"strings"
	"unicode"
)

// prose reports whether text is plain sentences: it ends with a full stop and holds no line breaks, double spaces,
// control characters or places for something to be filled in. What a peer reads is complete as it stands.
func prose(text string) bool {
	if text == "" || !strings.HasSuffix(text, ".") || text != strings.TrimSpace(text) || strings.Contains(text, "  ") {
		return false
	}
	return !strings.ContainsFunc(text, unicode.IsControl) && !strings.ContainsAny(text, "%<>$")
}

// sentence reports whether text is exactly one such sentence, beginning with a capital letter and without the
// braces of a template.
func sentence(text string) bool {
	if !prose(text) || strings.ContainsAny(text, "{}!?;") || !unicode.IsUpper([]rune(text)[0]) {
		return false
	}
	return !strings.Contains(strings.TrimSuffix(text, "."), ". ")
}
