package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/serve"
)

// This file has a small server whose tools fail in every way a handler can. Each tool exists twice: with and without an
// output schema. For stdio, the test binary starts itself again as the server, so nothing has to be built.

const serveVariable = "CANDOR_TEST_FAIL_SERVER"

func TestMain(m *testing.M) {
	if file := os.Getenv(replayVariable); file != "" {
		replay(file, os.Stdin, os.Stdout)
		return
	}
	if os.Getenv(serveVariable) == "" {
		os.Exit(m.Run())
	}
	server := failServer()
	if err := serve.Run(context.Background(), server, boundary.Install(server, boundary.Options{})); err != nil {
		fmt.Fprintln(os.Stderr, "fail server:", err)
		os.Exit(1)
	}
}

// serveEnvironment returns the environment that makes the test binary run as the fail server. It also disables the
// second that a program with the race detector waits before it exits.
func serveEnvironment() []string {
	return []string{serveVariable + "=1", "GORACE=" + os.Getenv("GORACE") + " atexit_sleep_ms=0"}
}

// serveHTTP serves a new fail server over streamable HTTP, in both eras, until the test ends.
func serveHTTP(t *testing.T) (url string) {
	t.Helper()
	listener := httptest.NewServer(boundary.Handler(failServer(), boundary.Options{}))
	t.Cleanup(func() {
		listener.CloseClientConnections() // a client may still have an open stream
		listener.Close()
	})
	return listener.URL
}

type input struct {
	Path string `json:"path"`
}

type output struct {
	Count int `json:"count"`
}

// schemaSuffix ends the names of the tools that have an output schema.
const schemaSuffix = "_with_schema"

func failServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "fail-server", Version: "1"}, nil)
	addTwice(server, "works", func() error { return nil })
	addTwice(server, "plain", func() error { return errors.New("disk on fire") })
	addTwice(server, "limited", func() error {
		return candor.RetryableAfter(candor.CodeRateLimited, 1500*time.Millisecond, "one call in two seconds, please")
	})
	addTwice(server, "wrapped", func() error {
		return fmt.Errorf("asking the index: %w", candor.New(candor.CodeNotFound, "there is no such book"))
	})
	addTwice(server, "panics", func() error { panic("the index is gone") })
	return server
}

func addTwice(server *mcp.Server, name string, do func() error) {
	mcp.AddTool(server, &mcp.Tool{Name: name},
		func(context.Context, *mcp.CallToolRequest, input) (*mcp.CallToolResult, any, error) {
			if err := do(); err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: name + schemaSuffix},
		func(context.Context, *mcp.CallToolRequest, input) (*mcp.CallToolResult, output, error) {
			return nil, output{Count: 1}, do()
		})
}
