package redact

import "strings"

// traceHeads are beginnings of traces that cannot begin a sentence.
var traceHeads = []string{
	"goroutine ", "stack backtrace:", "Stack trace:", "[stacktrace]", "runtime stack:", "Stack Trace:", "Call stack:",
	"   --- End of ", "--- End of stack trace", "Backtrace:", "Traceback (most recent call last)",
}

// Frame reports whether a line belongs to a stack trace of JavaScript, Python, Go, Java, .NET, Rust, Ruby or PHP.
func Frame(line string) bool {
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
