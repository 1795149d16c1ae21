package foreign

import "strings"

// splitStack takes a stack trace out of a text: Python's, Node's, Go's, Java's and .NET's.
func (r *reader) splitStack(s string) string {
	if i := strings.Index(s, "Traceback (most recent call last)"); i >= 0 {
		return r.pythonStack(s, i)
	}
	if i := goroutineAt(s); i >= 0 {
		keep(&r.said.Stack, s[i:])
		r.shape(ShapeTrace)
		return strings.TrimSpace(s[:i])
	}
	return r.frames(s)
}

// pythonStack keeps what stands before the trace and, if that is nothing, its last line: the exception.
func (r *reader) pythonStack(s string, i int) string {
	r.shape(ShapeTrace)
	keep(&r.said.Stack, s[i:])
	before := strings.TrimRight(strings.TrimSpace(s[:i]), ":")
	lines := strings.Split(strings.TrimRight(s[i:], "\n "), "\n")
	last := ""
	for n := len(lines) - 1; n > 0; n-- {
		if l := lines[n]; l != "" && l[0] != ' ' && !strings.HasPrefix(l, "During ") {
			last = l
			break
		}
	}
	if before == "" {
		return last
	}
	r.exceptionOf(last)
	return before
}

// goroutineAt finds the dump of a Go panic.
func goroutineAt(s string) int {
	i := strings.Index(s, "goroutine ")
	if i < 0 || i > 0 && s[i-1] != '\n' || !strings.Contains(clip(s[i:], 60), "]:") {
		return -1
	}
	return i
}

// frames takes out the lines of Node, Java and .NET: "    at x (file:1:2)".
func (r *reader) frames(s string) string {
	if !strings.Contains(s, "\n") {
		return s
	}
	var kept, stack []string
	for line := range strings.SplitSeq(s, "\n") {
		if isFrame(line) {
			stack = append(stack, line)
		} else {
			kept = append(kept, line)
		}
	}
	if len(stack) == 0 {
		return s
	}
	keep(&r.said.Stack, strings.Join(stack, "\n"))
	r.shape(ShapeTrace)
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// isFrame tells a stack line from the list of a validator ("  → at name"): it has a place in code.
func isFrame(line string) bool {
	rest := strings.TrimLeft(line, " \t")
	if len(rest) == len(line) {
		return false
	}
	if strings.HasPrefix(rest, "... ") && strings.HasSuffix(rest, " more") {
		return true
	}
	rest, ok := strings.CutPrefix(rest, "at ")
	if !ok || strings.HasPrefix(rest, "[Source") { // Jackson's place in the JSON
		return false
	}
	return strings.ContainsAny(rest, "(") || strings.Contains(rest, ":") && strings.ContainsAny(rest, "/\\") || strings.Contains(rest, " in ")
}
