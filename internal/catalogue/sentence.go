package catalogue

import (
	"strings"
	"unicode"
)

// prose reports whether text is complete, plain sentences: it ends with a full stop and has no line breaks, double spaces, control
// characters or placeholders.
func prose(text string) bool {
	if text == "" || !strings.HasSuffix(text, ".") || text != strings.TrimSpace(text) || strings.Contains(text, "  ") {
		return false
	}
	return !strings.ContainsFunc(text, unicode.IsControl) && !strings.ContainsAny(text, "%<>$")
}

// sentence reports whether text is exactly one such sentence that begins with a capital letter and has no braces of a template.
func sentence(text string) bool {
	if !prose(text) || strings.ContainsAny(text, "{}!?;") || !unicode.IsUpper([]rune(text)[0]) {
		return false
	}
	return !strings.Contains(strings.TrimSuffix(text, "."), ". ")
}
