// Package mcp is a stub of the go-sdk's, with its shapes: request types are aliases of a generic one.
package mcp

import "context"

type (
	CallToolRequest     = ServerRequest[*CallToolParamsRaw]
	GetPromptRequest    = ServerRequest[*GetPromptParams]
	ReadResourceRequest = ServerRequest[*ReadResourceParams]
)

type ServerSession struct{}

func (s *ServerSession) NotifyProgress(ctx context.Context, params any) error { return nil }

type ServerRequest[P any] struct {
	Session *ServerSession
	Params  P
}

type (
	CallToolParamsRaw  struct{ Name string }
	GetPromptParams    struct{ Name string }
	ReadResourceParams struct{ URI string }
)

type Content interface{ content() }

type TextContent struct{ Text string }

func (*TextContent) content() {}

type CallToolResult struct {
	Content           []Content
	StructuredContent any
	IsError           bool
}

func (r *CallToolResult) SetError(err error) {}

type (
	GetPromptResult    struct{ Description string }
	ReadResourceResult struct{ Contents []string }
)

func ResourceNotFoundError(uri string) error { return nil }

type (
	ToolHandler                 func(context.Context, *CallToolRequest) (*CallToolResult, error)
	ToolHandlerFor[In, Out any] func(context.Context, *CallToolRequest, In) (*CallToolResult, Out, error)
	PromptHandler               func(context.Context, *GetPromptRequest) (*GetPromptResult, error)
	ResourceHandler             func(context.Context, *ReadResourceRequest) (*ReadResourceResult, error)
)

type Tool struct{ Name string }

type Server struct{}

func (s *Server) AddTool(t *Tool, h ToolHandler) {}

func AddTool[In, Out any](s *Server, t *Tool, h ToolHandlerFor[In, Out]) {}
