package dual

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/client"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/wire"
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
	tools  atomic.Pointer[toolList] // nil if they are not listed yet, or have changed
}

// toolList is what a server lists. A nil list is empty.
type toolList struct {
	repeatable map[string]bool // by name: whether the tool declares readOnlyHint or idempotentHint
	complete   bool
}

// has reports whether the list has a tool; sure is false if it may be missing from an incomplete list.
func (l *toolList) has(tool string) (has, sure bool) {
	if l == nil {
		return false, false
	}
	_, has = l.repeatable[tool]
	return has, has || l.complete
}

// repeats reports whether a tool declares that a second call has no further effect.
func (l *toolList) repeats(tool string) bool { return l != nil && l.repeatable[tool] }

// errNotListed is the error for a tool that a server does not list. It was not called.
var errNotListed = errors.New("the server does not list the tool")

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

// call calls a tool. If the session has ended, it begins another one, once. Unless unlisted is set, the error for a tool that the server
// certainly does not list is [errNotListed]. The list is what the server listed last.
func (u *Upstream) call(ctx context.Context, in routeArgs, unlisted bool) (a answer, listed *toolList, err error) {
	for range 2 {
		var c *connection
		if c, err = u.connect(ctx); err != nil {
			return a, listed, err
		}
		a, err = c.call(ctx, in, unlisted)
		if l := c.tools.Load(); l != nil {
			listed = l
		}
		if !errors.Is(err, errSessionEnded) {
			break
		}
	}
	return a, listed, err
}

// listed returns the tools that the server listed last, nil before the first call.
func (u *Upstream) listed() *toolList {
	select {
	case u.lock <- struct{}{}:
		defer func() { <-u.lock }()
	default: // a connection begins
		return nil
	}
	if u.conn == nil {
		return nil
	}
	return u.conn.tools.Load()
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
		Connect(ctx, &mcp.StreamableClientTransport{Endpoint: u.URL, HTTPClient: &http.Client{Transport: copying{u.Client.Transport}}, MaxRetries: -1, DisableStandaloneSSE: true}, nil)
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
	c.tools.Store(nil)
}

// call calls a tool. It lists the tools first, because a server that fails during the call cannot list them afterwards.
func (c *connection) call(ctx context.Context, in routeArgs, unlisted bool) (answer, error) {
	if c.tools.Load() == nil {
		c.tools.Store(listTools(ctx, c.caller.Session))
	}
	if has, sure := c.tools.Load().has(in.Tool); !has && sure && !unlisted {
		return answer{}, errNotListed
	}
	params := &mcp.CallToolParams{Name: in.Tool}
	if len(in.Arguments) > 0 {
		params.Arguments = in.Arguments
	}
	kept := &received{}
	result, failed := c.caller.CallTool(context.WithValue(ctx, receivedKey{}, kept), params)
	switch {
	case failed == nil:
		return read(result, kept.result())
	case sessionEnded(failed):
		c.dead.Store(true)
		return answer{}, unreachable("The session with the server had ended.", errors.Join(errSessionEnded, failed))
	case failed.Origin().By == candor.PartyTransport:
		c.dead.Store(true) // the next call begins a new session
	}
	return answer{}, failed
}

// listTools lists the tools of a server.
func listTools(ctx context.Context, session *mcp.ClientSession) *toolList {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	list := &toolList{repeatable: map[string]bool{}, complete: true}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			list.complete = false
			break
		}
		a := tool.Annotations
		list.repeatable[tool.Name] = a != nil && (a.ReadOnlyHint || a.IdempotentHint)
	}
	return list
}

// received is a copy of the bytes that answer a call: the SDK decodes numbers as float64, and an id above 2^53 would change.
type received struct {
	mu   sync.Mutex
	text bytes.Buffer
}

type receivedKey struct{}

// Write implements [io.Writer].
func (r *received) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

// result returns the result of the call as it was sent; it is absent if it was not found.
func (r *received) result() wire.Value {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := r.text.Bytes()
	if m := wire.Parse(text, wire.Limits{}); m.Result().Present() {
		return m.Result()
	}
	for events := framing.NewEventReader(bytes.NewReader(text), wire.Limits{}); ; {
		event, err := events.Next()
		if err != nil {
			return wire.Value{}
		}
		if m := wire.Parse(bytes.Clone(event.Data), wire.Limits{}); m.Result().Present() {
			return m.Result()
		}
	}
}

// copying copies the body of a response for the call that waits for it.
type copying struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (c copying) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := c.RoundTripper.RoundTrip(r)
	if kept, ok := r.Context().Value(receivedKey{}).(*received); ok && err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(response.Body, kept), response.Body}
	}
	return response, err
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

// read returns the answer in a result, or the failure that the result contains although it is not marked as one. raw is the result as it was
// sent, which is passed on.
func read(result *mcp.CallToolResult, raw wire.Value) (a answer, err error) {
	e, confidence := client.DecodeSuspected(result, nil)
	if e != nil && confidence >= certain {
		return a, e
	}
	if e != nil {
		a.Suspected = &suspicion{Code: e.Code().String(), Confidence: confidence, fault: isFault(e)}
	}
	content, structured := raw.Path("content"), raw.Path("structuredContent")
	switch {
	case !raw.Present():
		return a, candor.New(candor.CodeUpstreamMalformed, "", candor.WithOrigin(candor.PartyTransport, false))
	case content.Type() != wire.TypeArray:
		content, _ = wire.ParseValue([]byte(`[]`), wire.Limits{})
	}
	if structured.Type() != wire.TypeObject {
		a.Result, err = json.Marshal(map[string]any{"content": json.RawMessage(content.Raw())})
		return a, err
	}
	if a.Result = structured.Raw(); !isCopy(content, structured) {
		a.Content = content.Raw()
	}
	return a, nil
}

// isCopy reports whether content is empty, or one text with the same JSON value as the structured content.
func isCopy(content, structured wire.Value) bool {
	text, ok := content.Path(0, "text").Str()
	if !ok || content.Len() > 1 {
		return content.Len() == 0
	}
	inText, err := wire.ParseValue([]byte(text), wire.Limits{})
	return err == nil && jsontext.Equal(decoded(inText), decoded(structured))
}

// decoded returns a value with the digits of its numbers.
func decoded(v wire.Value) (out any) {
	d := json.NewDecoder(bytes.NewReader(v.Raw()))
	d.UseNumber()
	_ = d.Decode(&out) // it was parsed before
	return out
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
