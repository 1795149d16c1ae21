package serve_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/serve"
)

// Stdio serves until the client closes its end or a signal arrives.
func ExampleStdio() {
	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // so that the example ends
	err := serve.Stdio(ctx, server, serve.Config{Ledger: "none"})
	fmt.Println(err)
	// Output:
	// <nil>
}

// A program with its own transport opens the parts and installs the boundary itself. Every failure is in the ledger before the client
// receives it.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)                                 //nolint:errcheck // a temporary directory
	env := map[string]string{"CANDOR_WITNESS_COPY": "none"} // a real server leaves Getenv nil
	parts, err := serve.Open(ctx, serve.Config{Ledger: filepath.Join(dir, "ledger"), Getenv: func(name string) string { return env[name] }})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	boundary.Install(server, parts.Options)
	mcp.AddTool(server, &mcp.Tool{Name: "read"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, os.ErrNotExist
	})
	near, far := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, far, nil); err != nil {
		fmt.Println(err)
		return
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(ctx, near, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "read", Arguments: map[string]any{}})
	fmt.Println(result.IsError, err)
	_, _ = session.Close(), parts.Close()

	reader, err := ledger.OpenReader(filepath.Join(dir, "ledger"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for line, err := range reader.Entries(ctx, ledger.ReadOptions{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if record, err := line.Record(); err == nil && record.Kind == ledger.KindFailure {
			fmt.Println(record.Tool, record.Code)
		}
	}
	// Output:
	// true <nil>
	// read FILE_NOT_FOUND
}
