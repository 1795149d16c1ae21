package boundary

import (
	"context"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestSuspectedFailuresAreRecorded calls a tool that reports a failure as a success. The answer is sent unchanged.
func TestSuspectedFailuresAreRecorded(t *testing.T) {
	for _, on := range []bool{true, false} {
		server := rowServer()
		server.AddTool(&mcp.Tool{Name: "masks", InputSchema: &jsonschema.Schema{Type: "object"}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return text(`{"success":false,"error":"connection refused"}`), nil
			})
		s := begin(t, server, eras[0], Options{Suspected: on, Logger: quiet})
		s.send(emitsCall(1, "masks"), emitsCall(2, "fine"))
		if got := strings.Join(s.rest(), ""); !strings.Contains(got, "connection refused") || strings.Contains(got, "isError") {
			t.Errorf("answered %s", got)
		}
		entries := s.ledger.all()
		if on && (len(entries) != 1 || entries[0].verdict != "masked" || entries[0].envelope != "") || !on && len(entries) != 0 {
			t.Errorf("on %v: recorded %+v", on, entries)
		}
	}
}
