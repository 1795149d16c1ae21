package boundary_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/candortest"
)

// TestTheKitFindsNothingOverHTTP runs the conformance kit against the handler, with Candor's contract.
func TestTheKitFindsNothingOverHTTP(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "kit", Version: "1"}, &mcp.ServerOptions{Logger: slog.New(slog.DiscardHandler)})
	type in struct {
		Text string `json:"text"`
	}
	add := func(name string, f func(context.Context, string) (string, error)) {
		mcp.AddTool(server, &mcp.Tool{Name: name}, func(ctx context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, any, error) {
			out, err := f(ctx, in.Text)
			if err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: out}}}, nil, nil
		})
	}
	server.AddResource(&mcp.Resource{URI: "file:///a", Name: "a"}, nil)
	server.AddPrompt(&mcp.Prompt{Name: "p"}, nil)
	add("echo", func(_ context.Context, text string) (string, error) { return text, nil })
	add("fail", func(context.Context, string) (string, error) { return "", io.ErrUnexpectedEOF })
	add("panic", func(context.Context, string) (string, error) { panic(errors.New("boom")) })
	add("slow", func(ctx context.Context, _ string) (string, error) { <-ctx.Done(); return "", ctx.Err() })
	const x = `{"text":"x"}`
	candortest.TestServer(t, candortest.HTTPHandler(boundary.Handler(server, boundary.Options{Logger: slog.New(slog.DiscardHandler)})),
		candortest.Options{
			Level: candortest.Contract, Oversize: 5 << 20, Tools: []candortest.Call{{Tool: "echo", Arguments: x}}, Failing: []candortest.Call{{Tool: "fail", Arguments: x}},
			Panicking: candortest.Call{Tool: "panic", Arguments: x}, Slow: candortest.Call{Tool: "slow", Arguments: x},
		})
}
