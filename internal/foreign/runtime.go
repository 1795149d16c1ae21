package foreign

import (
	"net/url"
	"strings"

	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// A server without validation fails on invalid arguments. The message of its runtime names the variable, which may be an argument
// or something else: the request decides.

// plausible reports whether a variable may be an argument: the request has it, or the request is not known.
func (r *reader) plausible(name string) bool {
	if r.args.has(name) {
		return true
	}
	return r.args.empty() && !tables().Builtins[Fold(name)]
}

// runtime reads messages of language runtimes that name a variable.
func (r *reader) runtime(s string, toks []token) {
	for i, t := range toks {
		if t.kind == kindURL {
			r.queryOf(t.text, s)
		}
		if t.kind == kindQuoted && isPath(t.text) && stumbled(toks, i) && r.plausible(t.text) {
			r.named(t.text, "required", lineAt(s, t.at))
		}
		if isCallee(toks, i) {
			r.notFunction(s, t)
		}
	}
}

// stumbled reports whether the quoted token i is the value that a runtime could not read.
func stumbled(toks []token, i int) bool {
	if i < 2 {
		return false
	}
	before := toks[i-2].low + " " + toks[i-1].low
	switch {
	case before == "destructure property", before == "( reading", before == "keyerror :", before == "read property":
		return true
	case i+2 < len(toks) && toks[i-1].low == "the" && toks[i+1].low == "argument" && toks[i+2].low == "must":
		return true
	}
	return false
}

// notFunction reads "tags.join is not a function", which means that tags has another type.
func (r *reader) notFunction(s string, t token) {
	callee, _, ok := cutLast(t.text, ".")
	if !ok {
		return
	}
	_, name, nested := cutLast(callee, ".")
	if !nested {
		name = callee
	}
	if r.args.has(name) || nested && tables().Roots[strings.SplitN(callee, ".", 2)[0]] {
		r.named(name, "type", lineAt(s, t.at))
	}
}

// isCallee reports whether "is not a function" follows token i.
func isCallee(toks []token, i int) bool {
	return i+4 < len(toks) && toks[i+1].low == "is" && toks[i+2].low == "not" && toks[i+3].low == "a" && toks[i+4].low == "function"
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+len(sep):], true
}

// queryOf reads arguments that were put into a URL without a check: ?address=undefined.
func (r *reader) queryOf(link, s string) {
	_, query, ok := strings.Cut(link, "?")
	if !ok {
		return
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		value, err := url.QueryUnescape(value)
		if err != nil || !isPath(name) {
			continue
		}
		switch value {
		case "undefined", "None", "NaN":
			r.named(name, "required", "sent as "+value)
		case "[object Object]":
			r.named(name, "type", "sent as an object")
		}
	}
}

// values reads sentences that quote a bad value next to its name: Unknown mode "x". Valid modes are …
func (r *reader) values(s string, toks []token) {
	for i, t := range toks {
		switch t.low {
		case "invalid", "unknown", "unsupported", "unrecognized", "illegal", "bad":
		default:
			continue
		}
		if i+1 >= len(toks) || toks[i+1].kind != kindWord {
			continue
		}
		name, ok := r.nameOf(toks[i+1], false, true)
		if tables().Generic[toks[i+1].low] && !r.args.has(name) {
			continue // "Invalid value: 'x'. Supported values are …" names nothing
		}
		if ok && r.valueBeside(toks, i+2, name) {
			r.named(name, "enum", lineAt(s, t.at))
		}
	}
}

// valueBeside reports whether the text after a name shows that it is an argument: its value, or a choice of values. A word that is
// not an argument of the request is more likely a part of one, as in "Invalid scheme, expected …" for an address.
func (r *reader) valueBeside(toks []token, i int, name string) bool {
	_, known := r.args.spelling(name)
	known = known || r.args.empty() || looksDeclared(name)
	for n := 0; n < 8 && i+n < len(toks); n++ {
		t := toks[i+n]
		if n == 0 && t.kind == kindWord && !r.args.holds(name, t.text) {
			return false
		}
		if r.args.holds(name, t.text) || known && tables().Choice[t.low] && (n == 0 || toks[i+n-1].kind == kindMark) {
			return true
		}
		if t.low == "undefined" || t.low == "[object object]" {
			return true
		}
	}
	return false
}

// splitStack removes a stack trace from a text: Python's, Node's, Go's, Java's and .NET's.
func (r *reader) splitStack(s string) string {
	if i := strings.Index(s, "Traceback (most recent call last)"); i >= 0 {
		return r.pythonStack(s, i)
	}
	if i := goroutineAt(s); i >= 0 {
		keep(&r.said.Stack, s[i:])
		return strings.TrimSpace(s[:i])
	}
	return r.frames(s)
}

// pythonStack returns the text before the trace or, if that is empty, its last line, which is the exception.
func (r *reader) pythonStack(s string, i int) string {
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

// goroutineAt returns the index of the dump of a Go panic, or -1.
func goroutineAt(s string) int {
	i := strings.Index(s, "goroutine ")
	if i < 0 || i > 0 && s[i-1] != '\n' || !strings.Contains(clip(s[i:], 60), "]:") {
		return -1
	}
	return i
}

// frame is a stack line of Node, Java and .NET, "    at x (file:1:2)", which has a position in code. The list of a validator
// ("  → at name") and Jackson's position in the JSON have none.
var frame = lazyregexp.New(`(?m)^[ \t]+(?:\.\.\. .* more|at (?:[^\[\n]|\[[^S\n])[^\n]*?(?:\(| in |:[^\n]*[/\\]|[/\\][^\n]*:)[^\n]*)(?:\n|$)`)

// frames removes the stack lines.
func (r *reader) frames(s string) string {
	stack := frame.Get().FindAllString(s, -1)
	if len(stack) == 0 || !strings.Contains(s, "\n") {
		return s
	}
	keep(&r.said.Stack, strings.Join(stack, ""))
	return strings.TrimSpace(frame.Get().ReplaceAllString(s, ""))
}
