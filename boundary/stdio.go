package boundary

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
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
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/internal/teach"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// Stdio returns a transport over standard input and output, for [mcp.Server.Run]. Where the SDK's own ends the session at one
// bad line, this one answers it and goes on. While it is open a client that has gone away is an error of writing, and no
// signal that ends the process.
//
// Handlers must not print to standard output. [Serve] sees to that as well.
func (b *Boundary) Stdio() mcp.Transport { return b.Transport(os.Stdin, newStandardOutput()) }

// Transport returns a transport over any two streams of lines, for one connection. Both are closed with it. A peer that does
// not read its answers holds up its own requests: nothing is queued for it.
//
// The server must be guarded by [Boundary.Install], or what its handlers do is not seen.
func (b *Boundary) Transport(r io.ReadCloser, w io.WriteCloser) mcp.Transport {
	return &streamTransport{b: b, r: r, w: w}
}

type streamTransport struct {
	b    *Boundary
	r    io.ReadCloser
	w    io.WriteCloser
	stop <-chan struct{} // ends the session in good order; nil never does
	over chan struct{}   // told when every caller was answered or given up; may be nil
}

// Connect implements [mcp.Transport].
func (t *streamTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	return t.open(context.WithoutCancel(ctx)), nil
}

// standardOutput is standard output without the signal that kills a process which writes to a closed one, and without
// a Close that would free the number 1 for the next file that is opened.
type standardOutput struct {
	*os.File
	broken chan os.Signal
}

func newStandardOutput() standardOutput {
	out := standardOutput{File: os.Stdout, broken: make(chan os.Signal, 1)}
	signal.Notify(out.broken, syscall.SIGPIPE)
	return out
}

// Close ends only the catching of the signal.
func (s standardOutput) Close() error {
	signal.Stop(s.broken)
	return nil
}

// streamLimits are the bounds of a message. Half of a surrogate pair is let through: a peer that cuts texts by UTF-16 units
// sends it, and a model cannot mend it.
func streamLimits(maxMessage int) wire.Limits {
	return wire.Limits{MaxBytes: maxMessage, AllowLoneSurrogates: true}
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// take reads one line and returns what the SDK is to have of it, nil if nothing. What is wrong with it is answered here.
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
		return takeAnswer(&m)
	}
}

func (c *streamConn) takeRequest(m *wire.Message) jsonrpc.Message {
	id := m.ID().Clone()
	o := &openCall{conn: c, id: id, sdk: sdkID(id), method: string(m.Method()), params: paramsOf(m)}
	if strings.HasPrefix(o.method, "notifications/") {
		c.refuse(fault(candor.CodeInvalidRequest, "a notification has no id"), id, o.exchange(), contract.VerdictProtocol)
		return nil
	}
	place, no := c.room.take(c.life, int64(len(o.params)))
	if no != nil {
		c.refuse(no.err, id, o.exchange(), contract.VerdictProtocol)
		return nil
	}
	o.place = place
	if e := c.calls.open(o); e != nil {
		o.place.shrink(0)
		c.refuse(e, id, o.exchange(), contract.VerdictProtocol)
		return nil
	}
	if !c.startOrQueue(o) {
		return nil
	}
	return o.request()
}

// takeNotification passes a notification on. What the SDK would drop without a word is recorded.
func (c *streamConn) takeNotification(m *wire.Message) jsonrpc.Message {
	method, params := string(m.Method()), paramsOf(m)
	x := exchange{method: contract.Bound(method, maxMethodName)}
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
	return &jsonrpc.Request{Method: method, Params: params, Extra: throughStream}
}

const cancelledMethod = "notifications/cancelled"

// takeCancel marks a call as called off and passes that on under the id by which the SDK knows the call. A call that is not
// open is ignored, and kept from the SDK: it would round the id, and cancel another one.
func (c *streamConn) takeCancel(params json.RawMessage) jsonrpc.Message {
	v, err := wire.ParseValue(params, c.limits)
	if err != nil {
		return nil
	}
	id := wire.ID(v.Path("requestId").Raw())
	if id == nil {
		return nil
	}
	c.starting.Lock() // a call that is being passed on must reach the SDK before its cancellation
	defer c.starting.Unlock()
	o := c.calls.cancel(id)
	if o == nil || c.dropQueued(o) {
		return nil
	}
	return cancellation(o, params)
}

// cancellation is the notification that calls off a call, with the params of the client's own if there is one.
func cancellation(o *openCall, params json.RawMessage) *jsonrpc.Request {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	var id []byte
	switch v := o.sdk.Raw().(type) {
	case string:
		id = wire.AppendString(nil, v)
	default:
		id = o.id
	}
	params, err := splice.SetMember(nil, params, []string{"requestId"}, id)
	if err != nil {
		return nil
	}
	return &jsonrpc.Request{Method: cancelledMethod, Params: params}
}

// takeAnswer passes on the client's answer to a request of the server. The SDK ignores one that it does not wait for.
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

// brokenAnswer is what the SDK gets for an answer that cannot be read, so that nobody waits for it. It is no JSON-RPC error,
// because a handler that returns it must not seem to have chosen one.
func brokenAnswer(id wire.ID, reason string) jsonrpc.Message {
	if id == nil || id.IsNull() {
		return nil
	}
	return &jsonrpc.Response{ID: sdkID(id), Error: errors.New("the client's answer cannot be read: " + reason)}
}

// takeMalformed answers what is no message. An answer is never answered, and neither is a notification.
func (c *streamConn) takeMalformed(m *wire.Message, e *candor.Error) jsonrpc.Message {
	x := exchange{method: contract.Bound(string(m.Method()), maxMethodName)}
	id := teach.AnswerID(m, e.Code()).Clone()
	bad := m.Malformation().Flaw
	switch shape := m.Shape(); {
	case m.Value().Type() != wire.TypeObject: // what it was to be cannot be told
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

// takeOversize answers a line that was not kept. Only what its head says of it is known.
func (c *streamConn) takeOversize(line framing.Line) jsonrpc.Message {
	e := candor.New(candor.CodeMessageTooLarge, "", candor.WithOrigin(candor.PartyServer, false),
		candor.WithDetails(map[string]any{"bytes": line.Size, "limitBytes": c.maxBytes()}))
	head := wire.Parse(line.Head, wire.Limits{})
	method, id := string(head.Method()), wire.PeekID(line.Head, line.Tail).Clone()
	x := exchange{method: contract.Bound(method, maxMethodName)}
	switch {
	case strings.HasPrefix(method, "notifications/"):
		c.b.suppress(c.ctx, e, contract.VerdictMalformed, x)
	case method == "":
		// It may be an answer, and its id one of ours.
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

// Serve puts a boundary around a server and runs it on standard input and output until the client closes its end or ctx is done.
// Both are a clean end, for which it returns nil: at the end of the input the calls that are open are answered first, for up to
// half a minute; when ctx is done they are called off and answered as CANCELLED. A call whose handler has not returned after 5 seconds more
// is answered as UNAVAILABLE. Serve returns an error if reading fails, or if a handler that ignores its context had to be left behind.
//
// While it runs os.Stdout is os.Stderr, so that a handler that prints does not write into the protocol. What a C library or a
// child process writes to file descriptor 1 is not caught.
func Serve(ctx context.Context, server *mcp.Server, o Options) error {
	b := Install(server, o)
	in, out := os.Stdin, newStandardOutput()
	os.Stdout = os.Stderr
	defer func() { os.Stdout = out.File }()
	return b.serve(ctx, server, in, out)
}

var errLeftBehind = errors.New("a handler was still running when the session had ended; it was left behind")

func (b *Boundary) serve(ctx context.Context, server *mcp.Server, r io.ReadCloser, w io.WriteCloser) error {
	over := make(chan struct{})
	ran := make(chan error, 1)
	t := &streamTransport{b: b, r: r, w: w, stop: ctx.Done(), over: over}
	// The SDK answers nobody once its context is done; the transport ends the session instead.
	go func() { ran <- server.Run(context.WithoutCancel(ctx), t) }()
	select {
	case err := <-ran:
		return err
	case <-over:
	}
	select {
	case err := <-ran:
		return err
	case <-time.After(leaveTime):
		return errLeftBehind
	}
}

// leaveTime is how long handlers may take to notice that the session has ended.
const leaveTime = time.Second
