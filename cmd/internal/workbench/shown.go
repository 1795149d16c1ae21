package workbench

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/dialect"
)

// withDetails adds the details of a failure to its result as a last block of text. A model sees text alone: a suggestion that says "read the
// output in the details" is of no use to it if the details are only in _meta. They are bounded, redacted and free of control characters, and
// the word before them keeps a reader of dialects from taking them for an envelope.
func withDetails(result mcp.Result) {
	failed, ok := result.(*mcp.CallToolResult)
	if !ok || failed == nil || failed.Meta[dialect.MetaKey] == nil {
		return
	}
	raw, err := json.Marshal(failed.Meta[dialect.MetaKey])
	if err != nil {
		return
	}
	var said struct {
		Details json.RawMessage `json:"details"`
	}
	if json.Unmarshal(raw, &said) != nil || len(said.Details) == 0 {
		return
	}
	text := bytes.NewBufferString("Details: ")
	if json.Indent(text, said.Details, "", " ") != nil {
		return
	}
	failed.Content = append(failed.Content[:len(failed.Content):len(failed.Content)], &mcp.TextContent{Text: text.String()})
}
