package foreign

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/redactjson"
	"github.com/candor-mcp/candor/wire"
)

// text reads one text, layer by layer, and returns its sentence.
func (r *reader) text(s string) string {
	if v, ok := parse(strings.TrimSpace(s)); ok && r.nested < MaxNested {
		return r.inside(v)
	}
	s = strings.TrimSpace(clip(strings.ToValidUTF8(s, "�"), MaxText))
	s = r.splitStack(s)
	s = r.splitAdvice(s)
	s = r.peel(s)
	if v, ok := parse(s); ok && r.nested < MaxNested && v.Type() != wire.TypeString {
		return r.inside(v)
	}
	s, body := r.splitBody(s)
	s = r.facts(s)
	return joined(s, body)
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
	if strings.Count(lead, "(") > strings.Count(lead, ")") && strings.Count(body, "(") == strings.Count(body, ")") {
		body += ")"
	}
	return lead + ": " + body
}

// splitBody removes the JSON or HTML body of an upstream from a sentence. It returns the sentence around it and the text of the
// body.
func (r *reader) splitBody(s string) (rest, body string) {
	if before, page, ok := cutPage(s); ok {
		at := max(0, len(before)-maxPageLabel)
		return strings.TrimRight(before[:at]+pageLabel.Get().ReplaceAllString(before[at:], ""), " \"'"), r.page(page)
	}
	for i, tries := 0, 0; tries < 4 && r.nested < MaxNested; tries++ {
		n := strings.IndexAny(s[i:], "{[")
		if n < 0 {
			break
		}
		i += n
		end, closed := jsonEnd(s, i)
		if v, ok := parse(s[i:end]); closed && ok && r.telling(v) {
			return withoutFrame(s[:i], strings.TrimLeft(s[end:], " .)")), r.inside(v)
		}
		if !closed {
			end = i + 1
		}
		i = max(end, i+1)
	}
	return s, ""
}

// bodyLabel is a label that stands before a body, after the sentence.
var bodyLabel = lazyregexp.New(`(?i)[,;(]\s*(?:content|body|response|data|payload|details)\s*[:=]?\s*$`)

// pageLabel is a label that stands before a page, also after a sentence.
var pageLabel = lazyregexp.New(`(?i)[.,;]?\s*\(?\b(?:response )?(?:body|content|text)\s*[:=]?\s*["'(]*$`)

const maxPageLabel = 32

// withoutFrame joins the texts before and after a body, without its quotes and its label.
func withoutFrame(before, after string) string {
	if n := len(before); n > 0 && after != "" && before[n-1] == after[0] && strings.IndexByte("\"'`", after[0]) >= 0 {
		before, after = before[:n-1], after[1:]
	}
	before = bodyLabel.Get().ReplaceAllString(before, "")
	return strings.TrimSpace(before + after)
}

// jsonEnd finds the end of the object or array at i.
func jsonEnd(s string, i int) (end int, ok bool) {
	d := json.NewDecoder(strings.NewReader(s[i:]))
	ok = d.Decode(new(json.RawMessage)) == nil
	return i + int(d.InputOffset()), ok
}

// telling reports whether JSON is worth reading: an object with members or an array of objects. ["a","b"] is prose.
func (r *reader) telling(v wire.Value) bool {
	if v.Type() == wire.TypeObject {
		return v.Len() > 0
	}
	return v.Path(0).Type() == wire.TypeObject
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

// ReadResult reads a tools/call result that is known or suspected to be a failure: its text blocks in order, then
// structuredContent, then the toolResult of the first protocol version. The result for a success is meaningless.
func ReadResult(result wire.Value, args wire.Value) Said {
	r := newReader(args)
	var text string
	for _, name := range []string{"content", "structuredContent", "toolResult"} {
		v, ok := result.Get(name)
		if !ok || v.IsNull() {
			continue
		}
		said := r.part(name, v)
		if text == "" || name != "structuredContent" && !strings.Contains(text, said) {
			text = cmp.Or(text, said)
		}
	}
	return r.finish(text)
}

func (r *reader) part(name string, v wire.Value) string {
	if name == "content" && v.Type() == wire.TypeArray {
		return r.blocks(v)
	}
	return r.value(v)
}

// blocks reads content blocks. Sentences of several blocks are joined, without a secret that the block before names.
func (r *reader) blocks(v wire.Value) string {
	var texts []string
	var list redactjson.Sequence
	n := 0
	for e := range v.Elements() {
		if n++; n > maxElements {
			break
		}
		t := r.block(e)
		if clean, hidden := list.NextOf(e); hidden {
			t = clean
		}
		if t != "" && !slices.Contains(texts, t) {
			texts = append(texts, t)
		}
	}
	if len(texts) > 1 {
		keep(&r.said.First, texts[0])
	}
	return strings.Join(texts, "\n")
}

func (r *reader) block(e wire.Value) string {
	for _, steps := range [][]any{{"text"}, {"error"}, {"message"}, {"resource", "text"}, {"data"}} {
		v := e.Path(steps...)
		if v.Type() == wire.TypeString && !e.Path("type").Is("image") && !e.Path("type").Is("audio") || v.Type() == wire.TypeObject {
			return r.value(v)
		}
	}
	return ""
}

// isMasked reports whether a sentence says only that something failed, and returns the tool that it names.
func isMasked(s string) (tool string, ok bool) {
	low := strings.ToLower(strings.TrimRight(s, ".!。 "))
	for _, tail := range []string{"please try again later", "please try again", "try again later"} {
		low = strings.TrimRight(strings.TrimSuffix(low, tail), ".!,; ")
	}
	if tables().Generics[low] {
		return "", true
	}
	for _, lead := range []string{"error executing tool ", "error calling tool ", "tool execution failed for "} {
		if rest, is := cutFold(strings.TrimRight(s, ". "), lead); is {
			tool = strings.Trim(rest, "'\"`")
			return tool, isToolName(tool)
		}
	}
	return "", false
}
