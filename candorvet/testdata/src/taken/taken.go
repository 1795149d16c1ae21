// Package taken uses the name candor for something else, or candor by another name.
package taken

import (
	"context"
	"errors"

	honest "github.com/candor-mcp/candor"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func renamed(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req == nil {
		return nil, honest.New(honest.CodeUnknownToolFailure, "no request")
	}
	return nil, errors.New("renamed") // want `rawerror`
}

func hidden(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	honest := "a word"
	return nil, errors.New(honest) // want `rawerror`
}
