// Package gosdk is a server on the go-sdk as it is, with one finding of every kind and one of every handler.
package gosdk

import (
	"context"
	"errors"
	"log"
	"os"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
)

type in struct{ Path string }

type out struct{ Text, Error string }

// Register adds everything that can fail.
func Register(s *mcp.Server, next mcp.ToolHandler) {
	s.AddTool(&mcp.Tool{Name: "low"}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("low") // want `^rawerror:`
	})
	mcp.AddTool(s, &mcp.Tool{Name: "typed"}, typed)
	s.AddPrompt(&mcp.Prompt{Name: "prompt"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return nil, errors.New("prompt") // want `^rawerror:`
	})
	s.AddResource(&mcp.Resource{URI: "r:"}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		if req.Params.URI == "" {
			return nil, mcp.ResourceNotFoundError("")
		}
		if req.Params.URI == "x" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "not x"}
		}
		return nil, errors.New("resource") // want `^rawerror:`
	})
	s.AddTool(&mcp.Tool{Name: "wrapped"}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return next(ctx, req)
	})
}

func typed(ctx context.Context, req *mcp.CallToolRequest, args in) (*mcp.CallToolResult, out, error) {
	if err := os.Chdir("a"); err != nil { // want `^logandcontinue:`
		log.Print(err)
	}
	_ = os.Chdir("b") // want `^swallowed:`
	_ = req.Session.NotifyProgress(ctx, nil)
	if _, err := os.Stat(args.Path); err != nil {
		return nil, out{Error: err.Error()}, nil // want `^maskederror:`
	}
	if _, err := os.Stat(args.Path); err != nil {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}, out{}, nil // want `^maskederror:`
	}
	if _, err := os.Stat(args.Path); err != nil {
		var res mcp.CallToolResult
		res.SetError(err)
		return &res, out{}, nil
	}
	if _, err := os.Stat(args.Path); err != nil {
		return nil, out{}, candor.From(err)
	}
	return nil, out{}, candor.New(candor.CodeUnknownToolFailure, "typed", candor.WithTool("typed"))
}
