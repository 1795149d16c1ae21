package workflow

import (
	"regexp"
	"strings"
)

// placeholder is a context key between double braces.
var placeholder = regexp.MustCompile(`\{\{[ \t]*([A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z_][A-Za-z0-9_-]*)*)[ \t]*\}\}`)

// Expand replaces every {{key}} of a text with the value that the function returns for the key. A placeholder whose value
// is not ok stays as it is, and values are not expanded again.
func Expand(text string, value func(key string) (replacement string, ok bool)) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		if v, ok := value(strings.Trim(found, "{} \t")); ok {
			return v
		}
		return found
	})
}
