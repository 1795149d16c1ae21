package noimport

import "github.com/modelcontextprotocol/go-sdk/mcp"
import "context"
import "errors"

func handler(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, errors.New("no room among the imports") // want `rawerror`
}
