package redact

import "strings"

// Stack separates a stack trace from the message before it, so that a caller can send the
// message and record the trace: s contains both, and the message alone describes the
// failure. A text without a trace is returned unchanged, with an empty trace.
//
// Traces of JavaScript, Python, Go, Java, .NET, Rust, Ruby and PHP are recognised, with real line ends
// or with \n written out. If the message comes last, as in Python, it is moved to the front.
// Stack redacts nothing.
func Stack(s string) (message, trace string) {
	sep := "\n"
	if !strings.Contains(s, sep) && strings.Contains(s, `\n`) {
		sep = `\n`
	}
	for at := 0; at <= len(s); {
		end, next := lineAt(s, at, sep)
		switch line := s[at:end]; {
		case strings.HasPrefix(strings.TrimSpace(line), pythonHead):
			return python(s, at, sep)
		case frame(line):
			return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s[:at]), sep)), s[at:]
		}
		at = next
	}
	return s, ""
}

const pythonHead = "Traceback (most recent call last)"

// lineAt returns the end of the line that begins at i and the beginning of the next.
func lineAt(s string, i int, sep string) (end, next int) {
	if n := strings.Index(s[i:], sep); n >= 0 {
		return i + n, i + n + len(sep)
	}
	return len(s), len(s) + 1
}

// python returns the last lines of a traceback, which begin in the first column, as the message.
func python(s string, at int, sep string) (message, trace string) {
	from := at
	for i := at; i <= len(s); {
		end, next := lineAt(s, i, sep)
		line := s[i:end]
		if i > at && line != "" && line[0] != ' ' && line[0] != '\t' && !strings.HasPrefix(line, pythonHead) &&
			!strings.HasPrefix(line, "During handling of") && !strings.HasPrefix(line, "The above exception") {
			from = i
		}
		i = next
	}
	if from == at {
		return strings.TrimSpace(s[:at]), s[at:]
	}
	before := strings.TrimSuffix(strings.TrimSpace(s[:at]), sep)
	if before != "" {
		before += "\n"
	}
	return before + strings.TrimSpace(s[from:]), s[at:from]
}

// traceHeads are beginnings of traces that cannot begin a sentence.
var traceHeads = []string{
	"goroutine ", "stack backtrace:", "Stack trace:", "[stacktrace]", "runtime stack:", "Stack Trace:", "Call stack:",
	"   --- End of ", "--- End of stack trace", "Backtrace:",
}

// frame reports whether a line belongs to a trace.
func frame(line string) bool {
	t := strings.TrimLeft(line, " \t")
	indented := len(t) < len(line)
	for _, h := range traceHeads {
		if strings.HasPrefix(t, h) && (h != "goroutine " || strings.HasSuffix(strings.TrimSpace(t), "]:")) {
			return true
		}
	}
	switch {
	case strings.HasPrefix(t, "at "):
		return indented && atFrame(t[len("at "):])
	case strings.HasPrefix(t, "from "), strings.HasPrefix(t, "File \""):
		return indented && (strings.Contains(t, ":in ") || strings.Contains(t, "\", line "))
	case strings.HasPrefix(t, "#"):
		n := digit.run(t, 1, 4)
		return n > 1 && strings.HasPrefix(t[n:], " ") && (strings.Contains(t, "): ") || strings.Contains(t, "{main}"))
	}
	return false
}

// atFrame distinguishes "at fn (file:1:2)", "at file:1:2", "at pkg.Class.method(File.java:1)" and "at Ns.Type.M()
// in file:line 3" from a sentence that continues with "at".
func atFrame(t string) bool {
	t = strings.TrimSpace(t)
	if strings.HasSuffix(t, ")") && strings.IndexByte(t, '(') > 0 || strings.Contains(t, ":line ") || strings.HasPrefix(t, "async ") {
		return true
	}
	n := digit.back(t, len(t), 8)
	return n < len(t) && n > 0 && t[n-1] == ':' && strings.IndexByte(t, ' ') < 0 && strings.ContainsAny(t, "/.<\\")
}
