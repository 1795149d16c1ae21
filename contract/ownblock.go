package contract

import (
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// An answer that carries a canonical error comes from a server with Candor, which has written its own readable block and ref. Both are
// replaced in place, so that a model reads one block and one ref, and the first block of a seed dialect stays first.

// ownBlockEdit returns the edit that replaces the text of the readable block that belongs to own, the canonical error that a result
// carries. ok is false if there is no such block.
func ownBlockEdit(content, own wire.Value, text []byte) (edit splice.Edit, ok bool) {
	if !own.Present() || !readable(own) {
		return splice.Edit{}, false
	}
	n := 0
	for block := range content.Elements() {
		if said, _ := block.Path("text").Str(); isReadableBlock(said, own) {
			return splice.Edit{Path: []string{"result", "content", strconv.Itoa(n), "text"}, Value: jsontext.AppendString(nil, text)}, true
		}
		n++
	}
	return splice.Edit{}, false
}

// isReadableBlock reports whether text is the readable block of the canonical error own: it begins with the code and ends with the ref.
// The lines between are not compared, because the server may use another version of Candor.
func isReadableBlock(text string, own wire.Value) bool {
	code, _ := own.Path("code").Str()
	ref, _ := own.Path("ref").Str()
	return code != "" && ref != "" && (strings.HasPrefix(text, code+": ") || strings.HasPrefix(text, code+"\n")) && strings.HasSuffix(strings.TrimSpace(text), "\nRef: "+ref)
}

// correlationEdit returns the edit that replaces the ref of own in the sep3313 form of the error. ok is false if there is none.
func correlationEdit(meta, own wire.Value, e *candor.Error) (edit splice.Edit, ok bool) {
	id := meta.Path(dialect.ToolFailureKey, "correlationId")
	ref, _ := own.Path("ref").Str()
	return splice.Edit{Path: []string{"result", "_meta", dialect.ToolFailureKey, "correlationId"}, Value: jsontext.AppendString(nil, e.Ref())},
		ref != "" && id.Is(ref)
}
