package workflow

import (
	"strings"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// placeholder is a context key between double braces.
var placeholder = lazyregexp.New(`\{\{[ \t]*([A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z_][A-Za-z0-9_-]*)*)[ \t]*\}\}`)

// Expand replaces every {{key}} of a text with the value that the function returns for the key. Placeholders without a
// value are kept, and values are not expanded again.
func Expand(text string, value func(key string) (replacement string, ok bool)) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	return placeholder.Get().ReplaceAllStringFunc(text, func(found string) string {
		if v, ok := value(strings.Trim(found, "{} \t")); ok {
			return v
		}
		return found
	})
}
