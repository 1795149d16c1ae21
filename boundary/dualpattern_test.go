package boundary

import (
	"context"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/dual"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// TestDualPatternReachesTheWire checks that pattern B is sent without isError, and that a server can choose the pattern of a tool.
func TestDualPatternReachesTheWire(t *testing.T) {
	const inA = `{"ok":false,"error":{"code":"HANDLER_ERROR","message":"ERR_NOT_FOUND: No task has this id.","details":{"code":"ERR_NOT_FOUND"}}}`
	const inB = `{"ok":true,"data":{"ok":false,"error":{"code":"ERR_NOT_FOUND","message":"No task has this id."}}}`
	const unified = `{"ok":false,"error":{"code":"ERR_NOT_FOUND","message":"No task has this id."}}`
	for _, row := range []struct {
		dialect string
		pattern dialect.Pattern
		want    string
		marked  bool
	}{
		{"dual", dialect.PatternAuto, inB, false},
		{"dual", dialect.PatternA, inA, true},
		{"dual-unified", dialect.PatternAuto, unified, true},
	} {
		server := mcp.NewServer(&mcp.Implementation{Name: "dual", Version: "1"}, nil)
		server.AddTool(&mcp.Tool{Name: "task_get", InputSchema: map[string]any{"type": "object"}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return nil, candor.New(dual.NotFound, "")
			})
		s := begin(t, server, eras[0], Options{Dialect: dialect.Must(row.dialect), Pattern: func(string) dialect.Pattern { return row.pattern }})
		s.send(eras[0].say(callRow("task_get", `{}`)))
		m := wire.Parse([]byte(s.next()), wire.Limits{})
		text, _ := m.Result().Path("content", 0, "text").Str()
		marked, _ := m.Result().Path("isError").Bool()
		if text != row.want || string(m.Result().Path("structuredContent").Raw()) != row.want || marked != row.marked {
			t.Errorf("%s: %s", row.dialect, m.Bytes())
		}
		s.rest()
	}
}
