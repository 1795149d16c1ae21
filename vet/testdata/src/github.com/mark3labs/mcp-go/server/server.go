// Package server is a stub of mcp-go's.
package server

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
)

type ToolHandlerFunc func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error)

type MCPServer struct{}

func (s *MCPServer) AddTool(tool mcp.Tool, handler ToolHandlerFunc) {}

func (s *MCPServer) SendNotificationToClient(ctx context.Context, method string, params map[string]any) error {
	return nil
}
