package client_test

import (
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/client"
)

// Decode takes both values that CallTool returned.
func ExampleDecode() {
	result := &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "429 Too Many Requests"}}}
	e := client.Decode(result, nil)
	fmt.Println(e.Code(), e.Class(), e.Retry().Retryable(), e.Origin().Inferred)
	// Output:
	// candor/UPSTREAM_RATE_LIMITED rate_limited false true
}

// A failure on this side of the connection has the origin client or transport.
func ExampleDecodeError() {
	e := client.DecodeError(fmt.Errorf("calling the server: %w", errors.New("no route")))
	fmt.Println(e.Code(), e.Origin().By)
	// Output:
	// candor/INTERNAL_ERROR client
}
