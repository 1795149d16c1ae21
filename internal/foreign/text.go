package foreign

import (
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// text reads one text, layer by layer, and returns its sentence.
func (r *reader) text(s string) string {
	if v, ok := parse(strings.TrimSpace(s)); ok && r.nested < MaxNested {
		return r.inside(v)
	}
	s, body := r.longBody(s)
	s = strings.TrimSpace(clip(strings.ToValidUTF8(s, "�"), MaxText))
	s = r.splitStack(s)
	s = r.splitAdvice(s)
	s = r.peel(s)
	r.answer = r.answer || isAnswerComplaint(s)
	if v, ok := parse(s); ok && r.nested < MaxNested && v.Type() != wire.TypeString {
		return r.inside(v)
	}
	if v, end, ok := repr(strings.TrimPrefix(s, "%"), 0); ok && end >= len(s)-1 && r.nested < MaxNested && r.tellsFailure(v) {
		return r.inside(v)
	}
	if body == "" {
		s, body = r.splitBody(s)
	}
	s = r.facts(s)
	return joined(s, body)
}

// longBody removes a JSON body from the end of a text that is too long to be parsed as a whole.
func (r *reader) longBody(s string) (rest, body string) {
	i := strings.IndexAny(clip(s, 1024), "{[")
	if len(s) <= MaxText || i < 0 || r.nested >= MaxNested {
		return s, ""
	}
	v, ok := parse(strings.TrimSpace(s[i:]))
	if !ok {
		return s, ""
	}
	return r.peel(s[:i]), firstOf(r.inside(v), r.fromIssues())
}

// inside reads JSON that was found in a text.
func (r *reader) inside(v wire.Value) string {
	r.nested++
	defer func() { r.nested-- }()
	return r.value(v)
}

// facts reads the facts in a sentence and returns the sentence, or the text of its issues if the sentence itself is not readable.
func (r *reader) facts(s string) string {
	own := r.args.takenOut(s)
	r.statusOf(own)
	r.errnoOf(own)
	r.exceptionOf(own)
	r.delayOf(own)
	r.requestOf(own)
	r.symbolsOf(own)
	if unspoken, ok := r.report(s); ok {
		if unspoken && len(r.said.Issues) > 0 {
			return r.fromIssues()
		}
		return s
	}
	r.fields(s)
	if len(r.said.Issues) == 0 {
		r.evident(s)
	}
	return s
}

// joined joins a sentence and the text of its body, unless one repeats the other.
func joined(s, body string) string {
	s = strings.TrimRight(s, " \n")
	switch {
	case body == "" || strings.Contains(s, body):
		return strings.TrimRight(s, ":- \n")
	case s == "":
		return body
	}
	lead := strings.TrimRight(s, ":-. \n")
	return lead + ": " + body
}

// splitBody removes the JSON or HTML body of an upstream from a sentence. It returns the sentence around it and the text of the
// body.
func (r *reader) splitBody(s string) (rest, body string) {
	if before, page, ok := cutPage(s); ok {
		title := r.page(page)
		return before, title
	}
	for i, tries := 0, 0; tries < 4 && r.nested < MaxNested; tries++ {
		n := strings.IndexAny(s[i:], "{[")
		if n < 0 {
			break
		}
		i += n
		v, end, ok := r.bodyAt(s, i)
		if ok {
			before, after := s[:i], strings.TrimLeft(s[end:], " .)")
			return strings.TrimSpace(before + after), r.inside(v)
		}
		i = max(end, i+1)
	}
	return s, ""
}

// bodyAt reads the value at i, in JSON or as a language prints it. If it is not a value, end is the position to continue at.
func (r *reader) bodyAt(s string, i int) (v wire.Value, end int, ok bool) {
	end, closed := jsonEnd(s, i)
	if closed {
		if v, ok = parse(s[i:end]); ok {
			return v, end, r.telling(v)
		}
	}
	if v, stop, is := repr(s, i); is {
		return v, stop, r.tellsFailure(v)
	}
	if !closed {
		end = i + 1
	}
	return v, end, false
}

// tellsFailure reports whether a printed value is about a failure. Prose has brackets and quotes, too.
func (r *reader) tellsFailure(v wire.Value) bool {
	if v.Type() == wire.TypeArray {
		first, _ := v.Index(0)
		return isIssue(first)
	}
	for _, name := range []string{"error", "Error", "message", "Message", "msg", "detail", "errors", "ResponseMetadata"} {
		if v.Path(name).Present() {
			return true
		}
	}
	return isErrorMap(v, 3)
}

// jsonEnd finds the end of the object or array at i by its brackets.
func jsonEnd(s string, i int) (end int, ok bool) {
	depth, quoted := 0, false
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return i, false
}

// telling reports whether JSON is worth reading: an object with members or an array of objects. ["a","b"] is prose.
func (r *reader) telling(v wire.Value) bool {
	if v.Type() == wire.TypeObject {
		return v.Len() > 0
	}
	first, ok := v.Index(0)
	return ok && first.Type() == wire.TypeObject
}

// If no known form matches, the request is the evidence: a sentence that complains about a value and contains the exact name of an
// argument, in a position where prose has no such word, is about that argument.

// evident reads such sentences. It runs only if no other reader found a field.
func (r *reader) evident(s string) {
	if r.args.empty() || r.said.Status != 0 || r.said.Errno != "" {
		return
	}
	toks := r.tokens(s)
	for i, t := range toks {
		if t.kind != kindWord && t.kind != kindQuoted || r.isOther(t.text) || !isPath(t.text) {
			continue
		}
		steps := r.rooted(stepsOf(t.text))
		if len(steps) == 0 || !r.args.has(steps[0]) || !r.pointsAt(toks, i, steps) {
			continue
		}
		if line := lineAt(s, t.at); !strings.HasPrefix(t.text, "$") && blames(line) {
			r.place(steps, "", line)
		}
	}
}

// isOther reports whether a single word is not the name of an argument. "params" has a special meaning in a path.
func (r *reader) isOther(word string) bool {
	return !strings.ContainsAny(word, "./[]") && word != "params" && !r.args.has(word)
}

// blames reports whether a sentence complains about a value, and not about the state of the thing that the value names.
func blames(line string) bool {
	low := strings.ToLower(line)
	for _, state := range []string{"not found", "not exist", "already", "denied", "permission", "no such", "unavailable", "timed out"} {
		if strings.Contains(low, state) {
			return false
		}
	}
	for _, fault := range []string{"valid", "must", "should", "expected", "support", "greater", "less than", "one of", "out of range", "at least", "at most", "too ", "required", "missing", "allowed", "malformed", "cannot be", "illegal", "unknown", "wrong", "bounds", "wanted"} {
		if strings.Contains(low, fault) {
			return true
		}
	}
	return false
}

// pointsAt reports whether token i is a name and not a word of the sentence: it is quoted or declared, begins the sentence before
// a colon, or is next to the value that was sent for it.
func (r *reader) pointsAt(toks []token, i int, steps []string) bool {
	t := toks[i]
	if t.kind == kindQuoted {
		return !r.args.sent(t.text)
	}
	if t.text != t.low && !looksDeclared(t.text) {
		return false
	}
	if looksDeclared(t.text) || t.head && i+1 < len(toks) && toks[i+1].text == ":" {
		return true
	}
	for _, at := range []int{i - 2, i - 1, i + 1, i + 2} {
		if at >= 0 && at < len(toks) && r.args.holds(steps[0], toks[at].text) {
			return true
		}
	}
	return false
}
