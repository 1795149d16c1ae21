package boundary_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/boundary"
)

// TestCallThatCannotBeCheckedIsMade checks that a call is not refused, and a result not withheld, because its validation against a
// schema would take too long.
func TestCallThatCannotBeCheckedIsMade(t *testing.T) {
	const list = `{"type":"object","properties":{"list":{"uniqueItems":true,"items":{"type":"object"}}}}`
	server := mcp.NewServer(&mcp.Implementation{Name: "unique", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "unique", InputSchema: json.RawMessage(list), OutputSchema: json.RawMessage(list)},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}, StructuredContent: r.Params.Arguments}, nil
		})
	var objects strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&objects, `{"id":%d,"name":"n","tags":["a","b"]},`, i)
	}
	c := talkTo(t, server, boundary.Options{})
	if answer := string(c.ask("tools/call", `{"name":"unique","arguments":{"list":[`+objects.String()+`{}]}}`)); strings.Contains(answer, `"isError":true`) || !strings.Contains(answer, "done") {
		t.Errorf("a valid call is refused: %.300s", answer)
	}
	if answer := string(c.ask("tools/call", `{"name":"unique","arguments":{"list":[1]}}`)); !strings.Contains(answer, "INVALID_ARGUMENTS") {
		t.Errorf("an invalid call is made: %.300s", answer)
	}
}
