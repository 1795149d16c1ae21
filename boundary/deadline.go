package boundary

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/usercode"
	"github.com/candor-mcp/candor/wire"
)

// grace is how long a handler may take to notice that its time is up, before it is left behind.
const grace = 50 * time.Millisecond

// limit returns how long a method may take, 0 for ever. What the SDK answers by itself needs no limit, and a subscription lasts.
func (g *guard) limit(method string) time.Duration {
	switch method {
	case "initialize", "ping", "server/discover", "subscriptions/listen", "logging/setLevel", "tools/list", "prompts/list",
		"resources/list", "resources/templates/list", StatsMethod:
		return 0
	default:
		return g.b.o.Timeout
	}
}

// runFor runs a handler beside a clock. Its context ends with the time; a handler that does not care is left behind, because
// a caller that waits for ever is worse.
func (g *guard) runFor(ctx context.Context, limit time.Duration, next mcp.MethodHandler, method string, req mcp.Request) outcome {
	if limit <= 0 {
		return g.run(ctx, next, method, req)
	}
	within, cancel := context.WithTimeout(ctx, limit)
	done := make(chan outcome, 1)
	go func() {
		out := outcome{thrown: errDeserted}
		defer func() {
			done <- out
			cancel()
		}()
		out = g.run(within, next, method, req)
	}()
	select {
	case out := <-done:
		return out.lateIf(within, ctx)
	case <-within.Done():
	}
	select {
	case out := <-done:
		return out.lateIf(within, ctx)
	case <-time.After(grace):
		return outcome{late: true, err: context.Cause(within)}
	}
}

// lateIf marks an outcome that is only the handler's way to say that its time was up.
func (out outcome) lateIf(within, caller context.Context) outcome {
	if caller.Err() != nil || !errors.Is(within.Err(), context.DeadlineExceeded) {
		return out
	}
	err := out.err
	if r, ok := out.result.(*mcp.CallToolResult); ok && err == nil && r != nil {
		err = r.GetError()
	}
	if isDeadline(err) {
		return outcome{late: true, err: context.DeadlineExceeded}
	}
	return out
}

// isDeadline reports an error that is a deadline, as far as it can be asked.
func isDeadline(err error) bool {
	is := func() bool { return usercode.Finite(err) && errors.Is(err, context.DeadlineExceeded) }
	if usercode.Trusted(err) {
		return is()
	}
	late, failed := usercode.Call(grace, is)
	return late && failed == nil
}

// lateError is what the caller of a handler is told whose time was up, or who called it off.
func (g *guard) lateError(out outcome) *candor.Error {
	if errors.Is(out.err, context.Canceled) {
		return candor.From(out.err)
	}
	return candor.New(candor.CodeCallTimeout, "", candor.WithOrigin(candor.PartyServer, false),
		candor.WithDetails(map[string]any{"limitMs": g.b.o.Timeout.Milliseconds()}))
}

// errDeserted is what a handler is said to have thrown that ended its goroutine.
var errDeserted = errors.New("the handler ended its goroutine without returning")

// unfinished is the failure of a call whose end nobody has seen, for its span.
var unfinished = candor.New(candor.CodeInternalError, "", candor.WithOrigin(candor.PartyServer, false))

// running knows the handlers of a server over HTTP that have not returned, so that they can be called off when the server stops: the
// SDK ends those of a session only if its client says so. For any other server it is zero and does nothing.
type running struct {
	stopping context.Context //nolint:containedctx // ends when no handler may go on; set before the first request
	handlers atomic.Int64
}

// begin returns the context for a handler, and what to do when it has returned.
func (r *running) begin(ctx context.Context) (within context.Context, end func()) {
	if r.stopping == nil {
		return ctx, func() {}
	}
	r.handlers.Add(1)
	within, cancel := context.WithCancel(ctx)
	forget := context.AfterFunc(r.stopping, cancel)
	return within, func() {
		forget()
		cancel()
		r.handlers.Add(-1)
	}
}

// awaitRest waits until no handler runs. It reports false if one still does when the time is up.
func (r *running) awaitRest(limit time.Duration) bool {
	const pause = 2 * time.Millisecond
	for waited := time.Duration(0); r.handlers.Load() > 0; waited += pause {
		if waited >= limit {
			return false
		}
		time.Sleep(pause)
	}
	return true
}

// streamCalls are the calls of all streams that were passed on to the SDK, by what identifies them there. A handler that ends its goroutine
// takes the SDK's way to answer with it, so its call is answered by the stream itself.
var streamCalls callRegistry

type callRegistry struct {
	mu    sync.RWMutex
	calls map[*mcp.RequestExtra]*openCall
}

func (r *callRegistry) add(o *openCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls == nil {
		r.calls = map[*mcp.RequestExtra]*openCall{}
	}
	r.calls[&o.extra] = o
}

func (r *callRegistry) remove(o *openCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.calls, &o.extra)
}

func (r *callRegistry) find(extra *mcp.RequestExtra) *openCall {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.calls[extra]
}

// httpCalls are the calls over HTTP that were passed on to the SDK.
var httpCalls answerRegistry

type answerRegistry struct {
	mu    sync.RWMutex
	calls map[*string]*answer // by the address of the mark
}

func (r *answerRegistry) add(a *answer) {
	if a.asked == nil || a.asked.Shape() != wire.KindRequest {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls == nil {
		r.calls = map[*string]*answer{}
	}
	r.calls[&a.mark[0]] = a
}

func (r *answerRegistry) remove(a *answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.calls, &a.mark[0])
}

func (r *answerRegistry) find(extra *mcp.RequestExtra) *answer {
	if extra == nil || len(extra.Header[throughHeader]) != 1 {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.calls[&extra.Header[throughHeader][0]]
}

// deserted handles a handler that has ended its goroutine. With an [Options.Timeout] it ran on one of its own, and its caller is answered
// as for any other failure. Otherwise the goroutine is the SDK's: the layer around the SDK answers the call, and where there is none it
// is only recorded.
func (g *guard) deserted(ctx context.Context, method string, req mcp.Request) {
	if g.limit(method) > 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if o := streamCalls.find(req.GetExtra()); o != nil {
		go o.answerDeserted(ctx, g, req)
		return
	}
	if a := httpCalls.find(req.GetExtra()); a != nil {
		go a.give(func() []byte { return a.desertedMessage(ctx, g, method, req) })
		return
	}
	x := g.exchangeOf(method, req)
	if call, ok := req.(*mcp.CallToolRequest); ok && call.Params != nil {
		x.tool = call.Params.Name
	}
	g.b.suppress(ctx, candor.From(errDeserted), contract.VerdictLost, x)
}

// failDeserted records and counts the failure of a handler that has ended its goroutine, and returns the result or the error to answer with.
func (g *guard) failDeserted(ctx context.Context, method string, req mcp.Request) (json.RawMessage, error) {
	out := reply{}
	if call, ok := req.(*mcp.CallToolRequest); ok && call.Params != nil {
		out = toolCall{g: g, req: call}.fail(ctx, candor.From(errDeserted), nil)
	} else {
		x := g.exchangeOf(method, req)
		out = g.protocolError(ctx, candor.From(errDeserted), &x, rpcError{}, isNotification(method))
	}
	g.noteRecorded(req, &out)
	if out.err != nil {
		return nil, out.err
	}
	return json.Marshal(out.result)
}

// answerDeserted answers a call on a stream whose handler has ended its goroutine.
func (o *openCall) answerDeserted(ctx context.Context, g *guard, req mcp.Request) {
	result, err := g.failDeserted(ctx, o.method, req)
	if err := o.conn.answer(ctx, &jsonrpc.Response{ID: o.sdk, Result: result, Error: err}); err != nil {
		o.conn.end(err)
	}
}

// desertedMessage returns the answer to a call over HTTP whose handler has ended its goroutine.
func (a *answer) desertedMessage(ctx context.Context, g *guard, method string, req mcp.Request) []byte {
	result, err := g.failDeserted(ctx, method, req)
	if err != nil {
		return rpcErrorOf(err).append(nil, a.id())
	}
	message := append(append([]byte(`{"jsonrpc":"2.0","id":`), a.id()...), `,"result":`...)
	return append(append(message, result...), '}')
}
