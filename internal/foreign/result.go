package foreign

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor/wire"
)

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
			text = firstOf(text, said)
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

// blocks reads content blocks. Sentences of several blocks are joined.
func (r *reader) blocks(v wire.Value) string {
	var texts []string
	n := 0
	for e := range v.Elements() {
		if n++; n > maxElements {
			break
		}
		if t := r.block(e); t != "" && !slices.Contains(texts, t) {
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

// reading are the beginnings of verbs for decoding a response, unfit are words for a response that could not be decoded, and
// answered are words for a response.
var (
	reading  = []string{"pars", "decod", "deserializ", "deserialis", "unmarshal", "validat", "interpret"}
	unfit    = set("unexpected", "invalid", "malformed", "unparseable", "unparsable", "unreadable", "corrupt", "non-json")
	answered = set("response", "responses", "reply", "api_response")
)

// isAnswerComplaint reports whether a sentence complains about the response of a service behind the tool: "Failed to parse API
// response: …", "Unexpected response format". Fields that follow are then fields of that response. Only the words before the first
// colon count, because the text after it may quote anything.
func isAnswerComplaint(s string) bool {
	head := clip(s, maxComplaint)
	if i := strings.IndexAny(head, ":\n{["); i >= 0 {
		head = head[:i]
	}
	read, answer, at := -1, -1, 0
	for word := range strings.FieldsFuncSeq(strings.ToLower(head), func(c rune) bool { return strings.ContainsRune(" ,.;()'\"`", c) }) {
		switch {
		case answered[word]:
			answer = at
		case unfit[word] || hasAnyPrefix(word, reading):
			read = at
		case word == "request" || word == "arguments" || word == "parameters":
			return false
		}
		at++
	}
	return read >= 0 && answer >= 0
}

// maxComplaint is the number of bytes in which such words are searched.
const maxComplaint = 120

func hasAnyPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// generics are sentences that do not name the cause. They are compared without case, full stop and "please try again later".
var generics = set("internal error", "internal server error", "an error occurred", "error", "something went wrong", "unknown error", "an unknown error occurred",
	"unexpected error", "an unexpected error occurred", "an internal error occurred", "an internal error has occurred", "tool execution failed", "execution failed", "request failed", "operation failed",
	"failed", "server error", "internal", "an error has occurred", "oops", "unknown", "error executing tool", "error calling tool", "[object object]", "undefined", "null",
	"发生错误", "未知错误", "服务器错误", "内部错误", "エラーが発生しました", "ein fehler ist aufgetreten", "ha ocurrido un error", "une erreur est survenue", "произошла ошибка")

// isMasked reports whether a sentence says only that something failed, and returns the tool that it names.
func isMasked(s string) (tool string, ok bool) {
	low := strings.ToLower(strings.TrimRight(s, ".!。 "))
	for _, tail := range []string{"please try again later", "please try again", "try again later"} {
		low = strings.TrimRight(strings.TrimSuffix(low, tail), ".!,; ")
	}
	if generics[low] {
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
