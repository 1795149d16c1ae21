package foreign

import (
	"strings"

	"github.com/candor-mcp/candor/wire"
)

// ReadResult reads a tools/call result that is known or thought to be a failure: its text blocks in order,
// then structuredContent, then the toolResult of the first protocol version. Successes read as nonsense.
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
	switch {
	case name == "content" && v.Type() == wire.TypeArray:
		return r.blocks(v)
	case name == "toolResult":
		r.shape(ShapeLegacyResult)
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
		if e.Path("type").Is("error") {
			r.shape(ShapeErrorBlock)
		}
		if t := r.block(e); t != "" && !contains(texts, t) {
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
