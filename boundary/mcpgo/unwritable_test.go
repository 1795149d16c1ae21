package mcpgo_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/boundary/mcpgo"
	"github.com/candor-mcp/candor/wire"
)

// unwritable lists results of tools whose encoding clients cannot read.
var unwritable = map[string]*mcp.CallToolResult{
	"a block that is nothing":                {Content: []mcp.Content{nil}},
	"a block that points to nothing":         {Content: []mcp.Content{mcp.NewTextContent("ok"), (*mcp.TextContent)(nil)}},
	"a failure with a block that is nothing": {IsError: true, Content: []mcp.Content{nil}},
	"structured content that is no UTF-8":    {StructuredContent: json.RawMessage("{\"a\":\"\xff\"}")},
	"raw structured content that is no UTF-8": {StructuredContent: map[string]any{"a": ""},
		RawStructuredContent: json.RawMessage("{\"a\":\"\xff\"}")},
	"meta that is no UTF-8": {Result: mcp.Result{Meta: &mcp.Meta{AdditionalFields: map[string]any{"a": json.RawMessage("\"\xff\"")}}}},
}

func TestUnreadableResultIsNotSent(t *testing.T) {
	for way, connect := range paths() {
		for name, result := range unwritable {
			t.Run(way+"/"+name, func(t *testing.T) {
				answer := connect(t, returning(result))(call(1, "t", `{}`))
				if code, _ := envelope(t, answer).Path("code").Str(); code != candor.CodeResultNotEncodable.Symbol() {
					t.Errorf("answered %q", answer)
				}
			})
		}
	}
}

// TestTextThatIsNotUTF8IsCleaned checks that invalid UTF-8 in a text does not fail the call: the encoder replaces it by U+FFFD.
func TestTextThatIsNotUTF8IsCleaned(t *testing.T) {
	for way, connect := range paths() {
		t.Run(way, func(t *testing.T) {
			answer := connect(t, returning(mcp.NewToolResultText("a\xffb")))(call(1, "t", `{}`))
			m := wire.Parse([]byte(answer), wire.Limits{})
			text, _ := m.Result().Path("content", 0, "text").Str()
			if !utf8.ValidString(answer) || text != "a\ufffdb" || strings.Contains(answer, "isError") {
				t.Errorf("answered %q", answer)
			}
		})
	}
}

// returning returns a server with one tool, t, that returns the result.
func returning(result *mcp.CallToolResult) *mcpgo.Server {
	inner := server.NewMCPServer("test", "1")
	inner.AddTool(mcp.NewTool("t"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return result, nil })
	b := &books{}
	return mcpgo.Wrap(inner, boundary.Options{Ledger: b, Meter: b})
}
