// Command notes is an MCP server that reports every failure with a code and retry advice.
package main

import (
	"context"
	"io/fs"
	"log"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/serve"
)

type noteName struct {
	Name string `json:"name" jsonschema:"the name of the note, without its folder"`
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "read_note", Description: "Read a note."}, readNote)
	if err := serve.Stdio(context.Background(), server, serve.Config{}); err != nil { // the one line
		log.Fatal(err)
	}
}

func readNote(_ context.Context, _ *mcp.CallToolRequest, in noteName) (*mcp.CallToolResult, any, error) {
	text, err := fs.ReadFile(os.DirFS("."), in.Name+".md") // DirFS refuses ../../etc/passwd
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil, err
}
