package dialect

import (
	"strings"

	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/pointer"
	"github.com/candor-mcp/candor/wire"
)

// A path has two spellings: the JSON Pointer of the canonical error, "/steps/0/id", and the dotted path of tool-error,
// "steps.0.id". A name that contains a dot, a bracket or a quote is written in brackets: goal["a.b"].

// dotted turns a JSON Pointer into a dotted path. Text that is not a pointer is returned unchanged.
func dotted(path string) string {
	if !strings.HasPrefix(path, "/") {
		return path
	}
	var out []byte
	for i, step := range strings.Split(path[1:], "/") {
		step = pointer.Unescape(step)
		switch {
		case !isPlainStep(step):
			out = append(jsontext.AppendString(append(out, '['), step), ']')
		case i > 0:
			out = append(append(out, '.'), step...)
		default:
			out = append(out, step...)
		}
	}
	return string(out)
}

func isPlainStep(step string) bool {
	return step != "" && step[0] != '/' && !strings.ContainsAny(step, `.[]"`)
}

// pointerOf turns a dotted path into a JSON Pointer. An index may be written a.0 or a[0]; a pointer is returned unchanged. Text that
// does not parse is read as a name.
func pointerOf(path string) string {
	if path == "" || path[0] == '/' {
		return path
	}
	var out strings.Builder
	for i, more := 0, true; more; {
		step, end := stepAt(path, i)
		out.WriteString(pointer.Of(step))
		// A dot separates steps, which may be empty. After a bracket it is optional.
		if more = end < len(path); more && path[end] == '.' {
			end++
		}
		i = end
	}
	return out.String()
}

// stepAt returns the step that begins at i and the index of its end.
func stepAt(path string, i int) (step string, end int) {
	if i < len(path) && path[i] == '[' {
		if step, n, ok := bracketed(path[i:]); ok {
			return step, i + n
		}
	}
	end = stepEnd(path, i)
	return path[i:end], end
}

// stepEnd returns the end of a plain name that begins at i: a dot, or a valid bracketed step.
func stepEnd(path string, i int) int {
	for end := i; end < len(path); end++ {
		if path[end] == '.' {
			return end
		}
		if path[end] == '[' && end > i {
			if _, _, ok := bracketed(path[end:]); ok {
				return end
			}
		}
	}
	return len(path)
}

// bracketed reads ["name"] or [0] at the start of s, and returns the number of bytes read.
func bracketed(s string) (step string, n int, ok bool) {
	end := bracketEnd(s)
	if end < 0 {
		return "", 0, false
	}
	v, err := wire.ParseValue([]byte(s[1:end]), wire.Limits{MaxDepth: 1})
	if err != nil || v.Type() != wire.TypeString && !v.IsInteger() {
		return "", 0, false
	}
	return scalarText(v), end + 1, true
}

// bracketEnd returns the index of the bracket that closes the one at the start of s, or -1. Inside quotes a bracket is part of the
// name.
func bracketEnd(s string) int {
	quoted := false
	for i := 1; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ']' && !quoted:
			return i
		}
	}
	return -1
}
