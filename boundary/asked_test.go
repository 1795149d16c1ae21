package boundary

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMissingClientCapabilityIsReported runs a handler that sends a request to a client that answers "method not found". The
// error concerns the handler's request, not the call.
func TestMissingClientCapabilityIsReported(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "asks", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "roots"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		_, err := r.Session.ListRoots(ctx, nil)
		return nil, nil, fmt.Errorf("looking for the workspace: %w", err)
	})
	s := begin(t, server, eras[0], Options{})
	s.send(emitsCall(7, "roots"))
	if asked := s.next(); !strings.Contains(asked, `"roots/list"`) {
		t.Fatal(asked)
	}
	s.send(`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`)
	answer := s.next()
	if got := codeIn([]byte(answer)); got != "candor/CAPABILITY_REQUIRED" || !strings.Contains(answer, `"isError":true`) {
		t.Errorf("%s in %s", got, answer)
	}
}
