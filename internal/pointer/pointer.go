// Package pointer writes and reads JSON Pointers (RFC 6901): the places of values in a JSON text, such as /steps/0/id.
package pointer

import (
	"iter"
	"strings"
)

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// Of returns the pointer that leads along the steps; without any, the empty one, which is the whole text.
func Of(steps ...string) string {
	var b strings.Builder
	for _, step := range steps {
		b.WriteByte('/')
		b.WriteString(escape.Replace(step))
	}
	return b.String()
}

// Unescape returns the name that a single step of a pointer stands for.
func Unescape(step string) string { return unescape.Replace(step) }

// Steps yields the steps of a pointer. What stands before the first slash, where a pointer has nothing, is passed over.
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
