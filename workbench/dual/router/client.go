package router

import (
	"context"
	"encoding/json"
	"net/http"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
)

// client is a connection over MCP.
type client struct {
	caller boundary.Caller
	dead   atomic.Bool
	closed func() error
}

// Connect begins an MCP session with a server over HTTP. Close calls closed after the session has ended; it may be nil.
func Connect(ctx context.Context, endpoint string, through *http.Client, closed func() error) (Conn, error) {
	c := &client{closed: closed}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "candor-dual-router", Version: "1"},
		&mcp.ClientOptions{ToolListChangedHandler: c.caller.ToolListChanged}).
		Connect(ctx, &mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: through, MaxRetries: -1, DisableStandaloneSSE: true}, nil)
	if err != nil {
		return nil, err
	}
	c.caller.Session = session
	c.caller.MaxAttempts = 1 // the gateway retries where that is allowed; a further try is that of another server
	go func() {
		_ = session.Wait() // why it ended is for the call that meets it
		c.dead.Store(true)
	}()
	return c, nil
}

// CallTool implements [Conn].
func (c *client) CallTool(ctx context.Context, tool string, arguments json.RawMessage) (json.RawMessage, error) {
	params := &mcp.CallToolParams{Name: tool}
	if len(arguments) > 0 {
		params.Arguments = arguments
	}
	result, failed := c.caller.CallTool(ctx, params)
	if failed != nil {
		if failed.Origin().By == candor.PartyTransport {
			c.dead.Store(true) // the next call begins a new session
		}
		return nil, failed
	}
	return payload(result)
}

// payload returns what a tool has to say: its structured content, or the blocks of its content.
func payload(result *mcp.CallToolResult) (json.RawMessage, error) {
	if result.StructuredContent != nil {
		return json.Marshal(result.StructuredContent)
	}
	return json.Marshal(map[string]any{"content": result.Content})
}

// Alive implements [Conn].
func (c *client) Alive() bool { return !c.dead.Load() }

// Close implements [Conn].
func (c *client) Close() error {
	err := c.caller.Session.Close()
	if c.closed != nil {
		if ended := c.closed(); err == nil {
			err = ended
		}
	}
	return err
}
