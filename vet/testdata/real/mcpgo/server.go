// Package mcpgo is a server on mcp-go as it is.
package mcpgo

import (
	"context"
	"errors"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

type answer struct {
	Success bool   `json:"success"`
	Error   string `json:"error"`
}

// Register adds everything that can fail.
func Register(s *server.MCPServer) {
	s.AddTool(mcp.NewTool("read"), func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		path, err := request.RequireString("path")
		if err != nil {
			return mcp.NewToolResultText(err.Error()), nil // want `^maskederror:`
		}
		if err := os.Chdir(path); err != nil {
			return mcp.NewToolResultErrorFromErr("chdir", err), nil
		}
		_ = s.SendNotificationToClient(ctx, "n", nil)
		return nil, errors.New("read") // want `^rawerror:`
	})
	s.AddTool(mcp.NewTool("structured"), mcp.NewStructuredToolHandler(
		func(ctx context.Context, request mcp.CallToolRequest, args struct{}) (answer, error) {
			return answer{Success: false, Error: "no"}, nil // want `^maskederror:`
		}))
	s.AddPrompt(mcp.NewPrompt("prompt"), func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return nil, errors.New("prompt") // want `^rawerror:`
	})
	s.AddResource(mcp.NewResource("r:", "r"), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return nil, errors.New("resource") // want `^rawerror:`
	})
}
