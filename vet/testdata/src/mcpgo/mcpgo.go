// Package mcpgo is a server on mcp-go.
package mcpgo

import (
	"context"
	"fmt"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

type answer struct {
	Success bool   `json:"success"`
	Error   string `json:"error"`
}

func register(s *server.MCPServer) {
	s.AddTool(mcp.Tool{Name: "read"}, func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		path, err := request.RequireString("path")
		if err != nil {
			return mcp.NewToolResultText(err.Error()), nil // want `maskederror`
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading: %w", err) // want `rawerror`
		}
		if len(data) == 0 {
			return mcp.NewToolResultText("failed to read " + path), nil // want `maskederror`
		}
		if len(data) == 1 {
			return mcp.NewToolResultStructured(answer{Success: false, Error: "too short"}, "x"), nil // want `maskederror`
		}
		if _, err := os.Stat("x"); err != nil {
			return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent("x: " + err.Error())}}, nil // want `maskederror`
		}
		if err := os.Chdir("x"); err != nil {
			return mcp.NewToolResultError("no x"), nil
		}
		if err := os.Chdir("y"); err != nil {
			return mcp.NewToolResultErrorFromErr("no y", err), nil
		}
		_ = s.SendNotificationToClient(ctx, "n", nil)
		return mcp.NewToolResultText(string(data)), nil
	})
}

// structured is passed to NewStructuredToolHandler.
func structured(ctx context.Context, request mcp.CallToolRequest, args struct{}) (answer, error) {
	if _, err := os.Stat("x"); err != nil {
		return answer{Error: err.Error()}, nil // want `maskederror`
	}
	return answer{Success: true}, nil
}

func resource(ctx context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	_, err := os.Stat(request.URI)
	return nil, err // want `rawerror`
}

type client struct{}

// CallTool is how a client calls; it has the signature of a handler and is none.
func (c *client) CallTool(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, fmt.Errorf("not connected")
}
