package router

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/client"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// clientConnection is a connection over MCP.
type clientConnection struct {
	caller client.Caller
	dead   atomic.Bool
	closed func() error
	hints  hints
}

// Connect begins an MCP session with a server over HTTP. Close calls closed, unless it is nil, after the session has
// ended.
func Connect(ctx context.Context, endpoint string, through *http.Client, closed func() error) (Conn, error) {
	c := &clientConnection{closed: closed}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "candor-dual-router", Version: "1"},
		&mcp.ClientOptions{ToolListChangedHandler: c.toolListChanged}).
		Connect(ctx, &mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: through, MaxRetries: -1, DisableStandaloneSSE: true}, nil)
	if err != nil {
		return nil, err
	}
	c.caller.Session = session
	c.caller.MaxAttempts = 1 // the gateway retries if that is allowed; the router's next attempt uses another server
	go func() {
		_ = session.Wait() // the next call reports the error
		c.dead.Store(true)
	}()
	return c, nil
}

func (c *clientConnection) toolListChanged(ctx context.Context, r *mcp.ToolListChangedRequest) {
	c.caller.ToolListChanged(ctx, r)
	c.hints.forget()
}

// CallTool implements [Conn]. It lists the tools first, because a server that fails during the call cannot list them
// afterwards.
func (c *clientConnection) CallTool(ctx context.Context, tool string, arguments json.RawMessage) (Answer, error) {
	c.hints.load(ctx, c.caller.Session)
	params := &mcp.CallToolParams{Name: tool}
	if len(arguments) > 0 {
		params.Arguments = arguments
	}
	result, failed := c.caller.CallTool(ctx, params)
	switch {
	case failed == nil:
		return read(result)
	case sessionEnded(failed):
		c.dead.Store(true)
		return Answer{}, ended(failed)
	case failed.Origin().By == candor.PartyTransport:
		c.dead.Store(true) // the next call begins a new session
	}
	return Answer{}, failed
}

// sessionEnded reports whether the gateway did not forward a call because the session, or the process behind it, had
// ended.
func sessionEnded(e *candor.Error) bool {
	if errors.Is(e, mcp.ErrSessionMissing) {
		return true
	}
	if e.Origin().By != candor.PartyGateway {
		return false // the text may be about other sessions of the server
	}
	return e.Code() == common.SessionNotFound || e.Code() == candor.CodeUpstreamGone && contract.ProvesNoEffect(e)
}

// ended is the error for a call on a session that had ended. The call was not made, and another server may be tried.
func ended(e *candor.Error) *candor.Error {
	return candor.New(candor.CodeUpstreamUnavailable, "The session with the server had ended.", candor.WithCause(errors.Join(ErrSessionEnded, e)),
		candor.WithRetry(candor.RetryIn(time.Second)), candor.WithOrigin(candor.PartyTransport, false))
}

// certain is the confidence from which a result without isError is treated as a failure. It is the confidence of the
// dual envelope, whose inner flag is unambiguous.
const certain = 0.95

// read returns the answer in a result, or the failure that the result contains although it is not marked as one.
func read(result *mcp.CallToolResult) (Answer, error) {
	e, confidence := client.DecodeSuspected(result, nil)
	if e != nil && confidence >= certain {
		return Answer{}, e
	}
	answer, err := payload(result)
	if err == nil {
		err = checkDepth(answer)
	}
	if e != nil && err == nil {
		answer.Suspected = &Suspicion{Code: e.Code().String(), Confidence: confidence, fault: isFault(e)}
	}
	return answer, err
}

// payload returns the content of a result.
func payload(result *mcp.CallToolResult) (answer Answer, err error) {
	content := result.Content
	if content == nil {
		content = []mcp.Content{} // null is not a list
	}
	if result.StructuredContent == nil {
		answer.Result, err = json.Marshal(map[string]any{"content": content})
		return answer, err
	}
	if answer.Result, err = json.Marshal(result.StructuredContent); err == nil && !isCopy(content, answer.Result) {
		answer.Content, err = json.Marshal(content)
	}
	return answer, err
}

// maxDepth is the maximum nesting of an answer, so that a reply that contains it stays below [wire.DefaultMaxDepth].
const maxDepth = wire.DefaultMaxDepth - 16

func checkDepth(a Answer) error {
	for _, raw := range []json.RawMessage{a.Result, a.Content} {
		if _, err := wire.ParseValue(raw, wire.Limits{MaxBytes: len(raw), MaxDepth: maxDepth}); errors.Is(err, wire.Malformation{Flaw: wireflaw.TooDeep}) {
			return candor.New(candor.CodeUpstreamMalformed, fmt.Sprintf("The answer of the server is nested more than %d levels deep.", maxDepth),
				candor.WithOrigin(candor.PartyServer, false))
		}
	}
	return nil
}

// isCopy reports whether content is empty, or one text with the same JSON value as the structured content.
func isCopy(content []mcp.Content, structured []byte) bool {
	if len(content) == 0 {
		return true
	}
	text, ok := content[0].(*mcp.TextContent)
	if !ok || len(content) > 1 {
		return false
	}
	var value any
	if json.Unmarshal([]byte(text.Text), &value) != nil {
		return false
	}
	again, err := json.Marshal(value)
	return err == nil && bytes.Equal(again, structured)
}

// Repeatable implements [Conn].
func (c *clientConnection) Repeatable(tool string) bool { return c.hints.repeatable(tool) }

// Alive implements [Conn].
func (c *clientConnection) Alive() bool { return !c.dead.Load() }

// Close implements [Conn].
func (c *clientConnection) Close() error {
	err := c.caller.Session.Close()
	if c.closed != nil {
		if ended := c.closed(); err == nil {
			err = ended
		}
	}
	return err
}
