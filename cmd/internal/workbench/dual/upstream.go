package dual

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/client"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/contract"
)

// Upstream is a server that the router can call, over HTTP. It is safe for concurrent use.
type Upstream struct {
	Name   string
	Cost   float64 // of a call, in any unit that all upstreams share
	URL    string
	Client *http.Client

	lock chan struct{} // guards conn; a channel, so that waiting for it ends when the call is cancelled
	conn *connection
}

// connection is an MCP session with an upstream.
type connection struct {
	caller client.Caller
	dead   atomic.Bool
	// repeatable has the tools that declare readOnlyHint or idempotentHint; nil if they are not listed yet, or have
	// changed.
	repeatable atomic.Pointer[map[string]bool]
}

// errSessionEnded is the error for a session that ended before a call could be made in it.
var errSessionEnded = errors.New("the session with the server has ended")

// answer is the result of an upstream.
type answer struct {
	Result json.RawMessage `json:"result"` // the structured content, or an object with the content
	// Content is the content beside structured content, unless it is only a text copy of it.
	Content json.RawMessage `json:"content,omitempty"`
	// Suspected is the failure that the answer seems to be although it is marked as a success; usually nil.
	Suspected *suspicion `json:"suspected,omitempty"`
}

// suspicion is a failure that was guessed from the text of an answer.
type suspicion struct {
	Code       string  `json:"code"`
	Confidence float64 `json:"confidence"` // below 1
	fault      bool
}

// call calls a tool. If the session has ended, it begins another one, once. repeatable reports whether the tool
// declares that a second call has no further effect.
func (u *Upstream) call(ctx context.Context, tool string, arguments json.RawMessage) (a answer, repeatable bool, err error) {
	for range 2 {
		var c *connection
		if c, err = u.connect(ctx); err != nil {
			return a, false, err
		}
		a, err = c.call(ctx, tool, arguments)
		if listed := c.repeatable.Load(); listed != nil {
			repeatable = (*listed)[tool]
		}
		if !errors.Is(err, errSessionEnded) {
			break
		}
	}
	return a, repeatable, err
}

// connect returns the session with the upstream. It begins another one if that has ended.
func (u *Upstream) connect(ctx context.Context) (*connection, error) {
	select {
	case u.lock <- struct{}{}:
		defer func() { <-u.lock }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if u.conn != nil && !u.conn.dead.Load() {
		return u.conn, nil
	}
	if u.conn != nil {
		_ = u.conn.caller.Session.Close() // it is unusable
		u.conn = nil
	}
	c := &connection{caller: client.Caller{MaxAttempts: 1}} // the gateway retries if that is allowed; the router's next attempt uses another server
	session, err := mcp.NewClient(&mcp.Implementation{Name: "candor-dual-router", Version: "1"}, &mcp.ClientOptions{ToolListChangedHandler: c.toolListChanged}).
		Connect(ctx, &mcp.StreamableClientTransport{Endpoint: u.URL, HTTPClient: u.Client, MaxRetries: -1, DisableStandaloneSSE: true}, nil)
	if err != nil {
		return nil, unreachable("The server could not be started or reached.", err)
	}
	c.caller.Session = session
	go func() {
		_ = session.Wait() // the next call reports the error
		c.dead.Store(true)
	}()
	u.conn = c
	return c, nil
}

// unreachable is the error for a call that was not made, so that another server may be tried.
func unreachable(message string, err error) *candor.Error {
	return candor.New(candor.CodeUpstreamUnavailable, message, candor.WithCause(err),
		candor.WithRetry(candor.RetryIn(time.Second)), candor.WithOrigin(candor.PartyTransport, false))
}

func (u *Upstream) close() error {
	u.lock <- struct{}{}
	defer func() { <-u.lock }()
	if u.conn == nil {
		return nil
	}
	return u.conn.caller.Session.Close()
}

func (c *connection) toolListChanged(ctx context.Context, r *mcp.ToolListChangedRequest) {
	c.caller.ToolListChanged(ctx, r)
	c.repeatable.Store(nil)
}

// call calls a tool. It lists the tools first, because a server that fails during the call cannot list them afterwards.
func (c *connection) call(ctx context.Context, tool string, arguments json.RawMessage) (answer, error) {
	if c.repeatable.Load() == nil {
		c.repeatable.Store(listRepeatable(ctx, c.caller.Session))
	}
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
		return answer{}, unreachable("The session with the server had ended.", errors.Join(errSessionEnded, failed))
	case failed.Origin().By == candor.PartyTransport:
		c.dead.Store(true) // the next call begins a new session
	}
	return answer{}, failed
}

// listRepeatable lists the tools that declare readOnlyHint or idempotentHint. After an error the list is shorter.
func listRepeatable(ctx context.Context, session *mcp.ClientSession) *map[string]bool {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	repeatable := map[string]bool{}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			break
		}
		if a := tool.Annotations; a != nil && (a.ReadOnlyHint || a.IdempotentHint) {
			repeatable[tool.Name] = true
		}
	}
	return &repeatable
}

// sessionEnded reports whether the gateway did not forward a call because the session, or its process, had
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

// certain is the confidence from which a result without isError is treated as a failure. It is the confidence of the
// dual envelope, which has an unambiguous inner flag.
const certain = 0.95

// read returns the answer in a result, or the failure that the result contains although it is not marked as one.
func read(result *mcp.CallToolResult) (a answer, err error) {
	e, confidence := client.DecodeSuspected(result, nil)
	if e != nil && confidence >= certain {
		return a, e
	}
	if e != nil {
		a.Suspected = &suspicion{Code: e.Code().String(), Confidence: confidence, fault: isFault(e)}
	}
	content := result.Content
	if content == nil {
		content = []mcp.Content{} // null is not a list
	}
	if result.StructuredContent == nil {
		a.Result, err = json.Marshal(map[string]any{"content": content})
		return a, err
	}
	if a.Result, err = json.Marshal(result.StructuredContent); err == nil && !isCopy(content, a.Result) {
		a.Content, err = json.Marshal(content)
	}
	return a, err
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

// isFault reports whether the upstream caused a failure, so that another server may succeed.
func isFault(e *candor.Error) bool {
	switch e.Class() {
	case candor.ClassUnavailable, candor.ClassTimeout, candor.ClassInternal, candor.ClassRateLimited:
		return true
	default:
		return false
	}
}
