package boundary

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/argerror"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/httpguard"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/serving"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// Transport returns a transport over two streams of lines, for one connection. It closes both. The SDK's own transport
// ends the session at a malformed line; this one answers it and continues. Answers are not queued: if a client does not
// read its answers, its further requests wait.
//
// The server must have a boundary, see [Install]; otherwise the failures of its handlers are not handled.
func (b *Boundary) Transport(r io.ReadCloser, w io.WriteCloser) mcp.Transport {
	return &streamTransport{b: b, r: r, w: w}
}

type streamTransport struct {
	b    *Boundary
	r    io.ReadCloser
	w    io.WriteCloser
	stop <-chan struct{} // ends the session gracefully; may be nil
	over chan struct{}   // closed when the session has ended; may be nil
}

// Connect implements [mcp.Transport].
func (t *streamTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	return t.open(context.WithoutCancel(ctx)), nil
}

// standardOutput is standard output. Close keeps file descriptor 1 open, so that no other file gets it.
type standardOutput struct{ *os.File }

// Close does nothing.
func (standardOutput) Close() error { return nil }

// streamLimits returns the limits of a message. Lone surrogates are allowed, because clients that cut strings by UTF-16
// units send them, and a model cannot correct that.
func streamLimits(maxMessage int) wire.Limits {
	return wire.Limits{MaxBytes: maxMessage, AllowLoneSurrogates: true}
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// take processes one line and returns the message to pass to the SDK, or nil. It answers invalid lines.
func (c *streamConn) take(line framing.Line) jsonrpc.Message {
	if line.Flaw != wireflaw.None {
		return c.takeOversize(line)
	}
	data := bytes.TrimPrefix(line.Bytes, byteOrderMark)
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	m := wire.Parse(data, c.limits)
	if e := flawError(&m); e != nil {
		return c.takeMalformed(&m, e)
	}
	switch m.Shape() {
	case wire.KindRequest:
		return c.takeRequest(&m)
	case wire.KindNotification:
		return c.takeNotification(&m)
	default:
		c.asking.Add(-1)
		return takeAnswer(&m)
	}
}

func (c *streamConn) takeRequest(m *wire.Message) jsonrpc.Message {
	id := bytes.Clone(m.ID())
	o := &openCall{passed: passed{conn: c}, id: id, sdk: sdkID(id), method: string(m.Method()), params: paramsOf(m)}
	if strings.HasPrefix(o.method, "notifications/") {
		c.refuse(fault(candor.CodeInvalidRequest, "a notification has no id"), id, o.exchange(), contract.VerdictProtocol)
		return nil
	}
	if err := c.budget.Reserve(c.life, &o.reserved, int64(len(o.params))); err != nil {
		guard := httpguard.Guard{By: candor.PartyServer}
		c.refuse(guard.RefuseBody(err, c.maxBytes()).Err, id, o.exchange(), contract.VerdictProtocol)
		return nil
	}
	if e := c.calls.open(o); e != nil {
		c.budget.Release(&o.reserved)
		c.refuse(e, id, o.exchange(), contract.VerdictProtocol)
		return nil
	}
	passedCalls.add(&o.extra, &o.passed)
	return &jsonrpc.Request{ID: o.sdk, Method: o.method, Params: o.params, Extra: &o.extra}
}

// takeNotification passes a notification on. It records notifications that the SDK would drop silently.
func (c *streamConn) takeNotification(m *wire.Message) jsonrpc.Message {
	method, params := string(m.Method()), paramsOf(m)
	x := exchange{method: candor.Public(method, maxMethodName)}
	if slices.Contains(methods, method) {
		c.b.suppress(c.ctx, fault(candor.CodeInvalidRequest, "a request has no id"), contract.VerdictProtocol, x)
		return nil
	}
	if issues := paramIssues(method, params); len(issues) > 0 {
		e := candor.New(candor.CodeInvalidRequestParams, "", candor.WithOrigin(candor.PartyServer, false), candor.WithIssues(issues...))
		c.b.suppress(c.ctx, e, contract.VerdictProtocol, x)
		return nil
	}
	if method == cancelledMethod {
		return c.takeCancel(params)
	}
	return &jsonrpc.Request{Method: method, Params: params}
}

const cancelledMethod = "notifications/cancelled"

// takeCancel marks a call as cancelled and passes the notification on with the SDK's id of the call. A cancellation of
// a call that is not open is dropped, because the SDK would round the id and cancel another call.
func (c *streamConn) takeCancel(params json.RawMessage) jsonrpc.Message {
	v, err := wire.ParseValue(params, c.limits)
	if err != nil {
		return nil
	}
	id := wire.ID(v.Path("requestId").Raw())
	if id == nil {
		return nil
	}
	o := c.calls.cancel(id)
	if o == nil {
		return nil
	}
	return cancellation(o, params)
}

// cancellation returns the notification that cancels a call. Params are those of the client's notification, or nil.
func cancellation(o *openCall, params json.RawMessage) *jsonrpc.Request {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	var id []byte
	switch v := o.sdk.Raw().(type) {
	case string:
		id = jsontext.AppendString(nil, v)
	default:
		id = o.id
	}
	params, err := splice.SetMember(nil, params, []string{"requestId"}, id)
	if err != nil {
		return nil
	}
	return &jsonrpc.Request{Method: cancelledMethod, Params: params}
}

// takeAnswer passes on the client's answer to a request of the server. The SDK ignores an answer that it does not wait for.
func takeAnswer(m *wire.Message) jsonrpc.Message {
	if m.ID() == nil {
		return nil
	}
	r := &jsonrpc.Response{ID: sdkID(m.ID()), Result: bytes.Clone(m.Result().Raw())}
	if v := m.Error(); v.Present() {
		code, _ := v.Path("code").Int64()
		text, _ := v.Path("message").Str()
		r.Error = &jsonrpc.Error{Code: code, Message: text, Data: bytes.Clone(v.Path("data").Raw())}
	}
	return r
}

// brokenAnswer returns the response to pass to the SDK for an unreadable answer of the client, so that the server does not wait for
// it. Its error is not a JSON-RPC error, because a handler may return it and must not appear to have chosen one.
func brokenAnswer(id wire.ID, reason string) jsonrpc.Message {
	if id == nil || id.IsNull() {
		return nil
	}
	return &jsonrpc.Response{ID: sdkID(id), Error: errors.New("reading the client's answer: " + reason)}
}

// takeMalformed answers a malformed message. Answers and notifications are only recorded.
func (c *streamConn) takeMalformed(m *wire.Message, e *candor.Error) jsonrpc.Message {
	x := exchange{method: candor.Public(string(m.Method()), maxMethodName)}
	id := bytes.Clone(argerror.AnswerID(m, e.Code()))
	bad := m.Malformation().Flaw
	switch shape := m.Shape(); {
	case m.Value().Type() != wire.TypeObject: // the kind of message is unknown
		c.refuse(e, nil, x, contract.VerdictMalformed)
	case shape == wire.KindResult, shape == wire.KindError, bad == wireflaw.ResultAndError:
		c.b.suppress(c.ctx, e, contract.VerdictMalformed, x)
		return brokenAnswer(m.ID(), bad.Reason())
	case shape == wire.KindNotification && bad != wireflaw.BadMethod:
		c.b.suppress(c.ctx, e, contract.VerdictMalformed, x)
	default:
		c.refuse(e, id, x, contract.VerdictMalformed)
	}
	return nil
}

// takeOversize answers a line that exceeds the size limit. Only its beginning and its end were kept.
func (c *streamConn) takeOversize(line framing.Line) jsonrpc.Message {
	e := candor.New(candor.CodeMessageTooLarge, "", candor.WithOrigin(candor.PartyServer, false),
		candor.WithDetails(map[string]any{"bytes": line.Size, "limitBytes": c.maxBytes()}))
	head := wire.Parse(line.Head, wire.Limits{})
	method, id := string(head.Method()), bytes.Clone(framing.PeekID(line.Head, line.Tail))
	x := exchange{method: candor.Public(method, maxMethodName)}
	switch {
	case strings.HasPrefix(method, "notifications/"):
		c.b.suppress(c.ctx, e, contract.VerdictMalformed, x)
	case method == "":
		// The line may be an answer, and its id one of the server's.
		c.refuse(e, nil, x, contract.VerdictMalformed)
		return brokenAnswer(id, "it is larger than the server accepts")
	default:
		c.refuse(e, id, x, contract.VerdictMalformed)
	}
	return nil
}

func fault(code candor.Code, reason string) *candor.Error {
	return candor.New(code, "", candor.WithOrigin(candor.PartyServer, false), candor.WithDetails(map[string]any{"reason": reason}))
}

// paramsOf returns a copy of the params, because the line will be overwritten.
func paramsOf(m *wire.Message) json.RawMessage {
	if m.Params().IsNull() {
		return nil
	}
	return bytes.Clone(m.Params().Raw())
}

func init() {
	serving.Stdio = func(ctx context.Context, b, server any) error {
		return b.(*Boundary).serveStdio(ctx, server.(*mcp.Server)) //nolint:errcheck,forcetypeassert // package serve passes nothing else
	}
	serving.HTTP = func(ctx context.Context, b, server any, listener net.Listener) error {
		return b.(*Boundary).serveListener(ctx, listener, server.(*mcp.Server)) //nolint:errcheck,forcetypeassert // as above
	}
}

// serveStdio implements serve.Run. At the end of the input it waits up to 30 seconds until the open calls are answered,
// and then cancels them, as it does at once when ctx is done. They are answered with CANCELLED, or if a handler does
// not return in 3 seconds, with UNAVAILABLE.
//
// While it runs, os.Stdout is os.Stderr, so that a handler that prints does not corrupt the protocol. Output of C
// libraries and child processes to file descriptor 1 is not redirected.
func (b *Boundary) serveStdio(ctx context.Context, server *mcp.Server) error {
	b = b.install(server)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // otherwise a write to a closed pipe would end the process
	out := os.Stdout
	os.Stdout = os.Stderr
	defer func() { os.Stdout = out }()
	return b.serve(ctx, server, os.Stdin, standardOutput{out})
}

func (b *Boundary) serve(ctx context.Context, server *mcp.Server, r io.ReadCloser, w io.WriteCloser) error {
	defer b.serving(ctx)()
	over := make(chan struct{})
	ran := make(chan error, 1)
	t := &streamTransport{b: b, r: r, w: w, stop: ctx.Done(), over: over}
	// The SDK sends no answers once its context is done, so the transport ends the session instead.
	go func() { ran <- server.Run(context.WithoutCancel(ctx), t) }()
	select {
	case err := <-ran:
		return errors.Join(err, b.stillRunning())
	case <-over:
	}
	select {
	case err := <-ran:
		return errors.Join(err, b.stillRunning())
	case <-time.After(writeGrace): // a write to a client that does not read cannot be interrupted
		return errHandlerRunning
	}
}
