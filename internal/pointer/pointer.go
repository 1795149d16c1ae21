// Package pointer writes and reads JSON Pointers (RFC 6901), such as /steps/0/id.
package pointer

import (
	"iter"
	"strings"
)

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// Of returns the pointer with these steps. Without steps it is the empty pointer, which refers to the whole document.
func Of(steps ...string) string {
	var b strings.Builder
	for _, step := range steps {
		b.WriteByte('/')
		b.WriteString(escape.Replace(step))
	}
	return b.String()
}

// Unescape returns the name that a single step of a pointer encodes.
func Unescape(step string) string {
	if !strings.Contains(step, "~") { // Replace would copy it
		return step
	}
	return unescape.Replace(step)
}

// Steps yields the steps of a pointer. It ignores text before the first slash, which a valid pointer does not have.
func Steps(pointer string) iter.Seq[string] {
	return func(yield func(string) bool) {
		_, rest, more := strings.Cut(pointer, "/")
		for more {
			var step string
			if step, rest, more = strings.Cut(rest, "/"); !yield(Unescape(step)) {
				return
			}
		}
	}
}
