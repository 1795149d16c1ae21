package mcpgo_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/candor-mcp/candor/adapters/mcpgo"
	"github.com/candor-mcp/candor/boundary"
)

func failing(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, errors.New("the index is being rebuilt")
}

// Wrap adds a boundary to a server. Serve through the value that it returns.
func ExampleWrap() {
	s := server.NewMCPServer("notes", "1", server.WithToolCapabilities(false))
	s.AddTool(mcp.NewTool("read"), failing)
	wrapped := mcpgo.Wrap(s, boundary.Options{})
	if err := wrapped.ServeStdio(context.Background(), os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// Middleware covers the tools of a server that is served by mcp-go itself.
func ExampleMiddleware() {
	handler := mcpgo.Middleware(boundary.Options{})(failing)
	result, err := handler(context.Background(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "read"}})
	fmt.Println(result.IsError, err)
	// Output:
	// true <nil>
}
