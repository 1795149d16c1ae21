// Package mcp is a stub of mcp-go's.
package mcp

type (
	CallToolRequest     struct{ Method string }
	ReadResourceRequest struct{ URI string }
)

func (r CallToolRequest) RequireString(key string) (string, error) { return "", nil }

type Content interface{}

type TextContent struct{ Text string }

func NewTextContent(text string) TextContent { return TextContent{text} }

type ResourceContents interface{}

type CallToolResult struct {
	Content           []Content
	StructuredContent any
	IsError           bool
}

func NewToolResultText(text string) *CallToolResult                 { return nil }
func NewToolResultError(text string) *CallToolResult                { return nil }
func NewToolResultStructured(s any, text string) *CallToolResult    { return nil }
func NewToolResultErrorFromErr(s string, err error) *CallToolResult { return nil }

type Tool struct{ Name string }
