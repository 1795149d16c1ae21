package boundary

import (
	"bufio"
	"context"
	"fmt"
	"io"
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
	b := Install(server, Options{})
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	go func() { _ = server.Run(t.Context(), b.Transport(fromClient, toClient)) }()
	lines := bufio.NewScanner(fromServer)
	say := func(line string) {
		if _, err := io.WriteString(toServer, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	say(strings.Replace(goldenHello, `"capabilities":{}`, `"capabilities":{"roots":{}}`, 1))
	lines.Scan()
	say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"roots","arguments":{}}}`)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"roots/list"`) && strings.Contains(lines.Text(), `"method"`) {
			say(`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`)
			continue
		}
		break
	}
	if got := codeIn(lines.Bytes()); got != "candor/CAPABILITY_REQUIRED" || !strings.Contains(lines.Text(), `"isError":true`) {
		t.Errorf("%s in %s", got, lines.Text())
	}
}
