// Package guarded serves its handlers through a boundary, which gives plain errors a code.
package guarded

import (
	"context"
	"errors"

	"github.com/candor-mcp/candor/boundary"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func install(server *mcp.Server) { boundary.Install(server) }

func handler(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, errors.New("a plain one")
}
