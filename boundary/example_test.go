package boundary_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
)

// call connects a client to the server in memory and prints the text of one result.
func call(server *mcp.Server, tool string, arguments map[string]any) {
	ctx := context.Background()
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
	defer session.Close() //nolint:errcheck // in memory
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		fmt.Println(err)
		return
	}
	envelope, _ := result.Meta["dev.candor/error"].(map[string]any)
	fmt.Println(result.IsError, envelope["code"], envelope["message"])
}

// A handler returns a Go error. The client receives a typed error.
func ExampleInstall() {
	server := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "read"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("the index is being rebuilt")
	})
	boundary.Install(server, boundary.Options{})
	call(server, "read", map[string]any{})
	// Output:
	// true INTERNAL_ERROR the index is being rebuilt
}

// A handler chooses the code by returning a candor error.
func ExampleOptions() {
	server := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "read"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, candor.New(candor.CodeNotFound, "There is no note 7.")
	})
	boundary.Install(server, boundary.Options{
		Refine: func(_ context.Context, e *candor.Error) *candor.Error {
			return e.With(candor.WithSuggestion("List the notes first."))
		},
	})
	call(server, "read", map[string]any{})
	// Output:
	// true NOT_FOUND There is no note 7.
}
