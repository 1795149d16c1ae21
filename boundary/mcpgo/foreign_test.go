package mcpgo_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/boundary/mcpgo"
)

type (
	selfError   struct{}
	sleepyError struct{}
	goexitJSON  struct{}
	sleepyJSON  struct{}
)

func (*selfError) Error() string                { return "self" }
func (e *selfError) Unwrap() error              { return e }
func (sleepyError) Error() string               { select {} }
func (goexitJSON) MarshalJSON() ([]byte, error) { runtime.Goexit(); return nil, nil }
func (sleepyJSON) MarshalJSON() ([]byte, error) { select {} }

func TestForeignMethodsAreBounded(t *testing.T) {
	t.Parallel()
	for name, outcome := range map[string]func() (*mcp.CallToolResult, error){
		"unwraps to itself": func() (*mcp.CallToolResult, error) { return nil, &selfError{} },
		"Error sleeps":      func() (*mcp.CallToolResult, error) { return nil, sleepyError{} },
		"panic":             func() (*mcp.CallToolResult, error) { panic(sleepyError{}) },
		"structure sleeps":  func() (*mcp.CallToolResult, error) { return &mcp.CallToolResult{StructuredContent: sleepyJSON{}}, nil },
		"failed structure calls Goexit": func() (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{IsError: true, StructuredContent: goexitJSON{}}, nil
		},
	} {
		for way, connect := range paths() {
			t.Run(way+"/"+name, func(t *testing.T) {
				inner := server.NewMCPServer("test", "1")
				inner.AddTool(mcp.NewTool("t"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return outcome() })
				b := &books{}
				s := mcpgo.Wrap(inner, boundary.Options{Ledger: b, Meter: b, Timeout: 100 * time.Millisecond})
				answer := connect(t, s)(call(1, "t", `{}`))
				if ref, _ := envelope(t, answer).Path("ref").Str(); ref == "" {
					t.Errorf("answered %q", answer)
				}
			})
		}
	}
}
