package mcpgo_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/boundary/mcpgo"
	"github.com/candor-mcp/candor/wire"
)

func failing(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, errors.New("the index is being rebuilt")
}

// printCode prints isError and the code of an answer.
func printCode(answer []byte) {
	m := wire.Parse(answer, wire.Limits{})
	fmt.Println(string(m.Result().Path("isError").Raw()), string(m.Result().Path("_meta", "dev.candor/error", "code").Raw()))
}

// Wrap adds a boundary to a server. Serve through the value that it returns.
func ExampleWrap() {
	s := server.NewMCPServer("notes", "1", server.WithToolCapabilities(false))
	s.AddTool(mcp.NewTool("read"), failing)
	wrapped := mcpgo.Wrap(s, boundary.Options{})
	printCode(wrapped.HandleMessage(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{}}}`)))
	// Output:
	// true "INTERNAL_ERROR"
}

// Middleware covers the tools of a server that is served by mcp-go itself.
func ExampleMiddleware() {
	handler := mcpgo.Middleware(boundary.Options{})(failing)
	result, err := handler(context.Background(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "read"}})
	fmt.Println(result.IsError, err)
	// Output:
	// true <nil>
}
