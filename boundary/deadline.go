package boundary

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary/internal/adapter"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/usercode"
)

// limit returns the time limit of a method, or 0 for no limit. Methods that the SDK answers itself need no limit, and a subscription
// has no end.
func (g *guard) limit(method string) time.Duration {
	switch method {
	case "initialize", "ping", "server/discover", "subscriptions/listen", "logging/setLevel", "tools/list", "prompts/list",
		"resources/list", "resources/templates/list", StatsMethod:
		return 0
	default:
		return g.b.o.Timeout
	}
}

// runFor runs a handler with a time limit; see [adapter.Run].
func (g *guard) runFor(ctx context.Context, limit time.Duration, next mcp.MethodHandler, method string, req mcp.Request) outcome {
	if limit <= 0 {
		return g.run(ctx, next, method, req)
	}
	out, returned, err := adapter.Run(ctx, limit, outcome{thrown: errDeserted}, func(ctx context.Context) outcome { return g.run(ctx, next, method, req) })
	if !returned {
		return outcome{late: true, err: err}
	}
	if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return out
	}
	failed := out.err
	if r, ok := out.result.(*mcp.CallToolResult); ok && failed == nil && r != nil {
		failed = r.GetError()
	}
	if isDeadline(failed) { // the handler's error is only that deadline
		return outcome{late: true, err: context.DeadlineExceeded}
	}
	return out
}

// isDeadline reports whether err is context.DeadlineExceeded. An error whose methods do not return in time is not.
func isDeadline(err error) bool {
	is := func() bool { return usercode.Finite(err) && errors.Is(err, context.DeadlineExceeded) }
	if usercode.Trusted(err) {
		return is()
	}
	late, failed := usercode.Call(adapter.Grace, is)
	return late && failed == nil
}

// lateError returns the error for a handler that timed out or was cancelled.
func (g *guard) lateError(out outcome) *candor.Error {
	if errors.Is(out.err, context.Canceled) {
		return candor.From(out.err)
	}
	return candor.New(candor.CodeCallTimeout, "", candor.WithOrigin(candor.PartyServer, false),
		candor.WithDetails(map[string]any{"limitMs": g.b.o.Timeout.Milliseconds()}))
}

// errDeserted is the error for a handler that ended its goroutine with runtime.Goexit.
var errDeserted = errors.New("the handler ended its goroutine without returning")

// unfinished is the error of the span of a call that did not finish.
var unfinished = candor.New(candor.CodeInternalError, "", candor.WithOrigin(candor.PartyServer, false))

// running counts the running handlers of an HTTP server and cancels them when the server stops, because the SDK cancels the handlers
// of a session only at the client's request. The zero value, for any other server, does nothing.
type running struct {
	stopping context.Context //nolint:containedctx // done when handlers must stop; set before the first request
	handlers atomic.Int64
}

// begin returns the context for a handler, and a function to call when the handler has returned.
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

// awaitHandlers waits until no handler is running. It returns false if a handler is still running after limit.
func (r *running) awaitHandlers(limit time.Duration) bool {
	const pause = 2 * time.Millisecond
	for waited := time.Duration(0); r.handlers.Load() > 0; waited += pause {
		if waited >= limit {
			return false
		}
		time.Sleep(pause)
	}
	return true
}

// streamCalls holds the calls of all streams that were passed on to the SDK, by the RequestExtra that identifies each of them there.
// When a handler ends its goroutine, the SDK cannot answer the call, so the stream answers it.
var streamCalls registry[*mcp.RequestExtra, *openCall]

// httpCalls holds the calls over HTTP that were passed on to the SDK, by the address of answer.mark.
var httpCalls registry[*string, *answer]

// registry is a map for concurrent use.
type registry[K comparable, V any] struct {
	mu    sync.RWMutex
	calls map[K]V
}

func (r *registry[K, V]) add(key K, call V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls == nil {
		r.calls = map[K]V{}
	}
	r.calls[key] = call
}

func (r *registry[K, V]) remove(key K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.calls, key)
}

func (r *registry[K, V]) find(key K) V {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.calls[key]
}

func (r *registry[K, V]) values() []V {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Collect(maps.Values(r.calls))
}

// markOf returns the key of a request in httpCalls, or nil.
func markOf(extra *mcp.RequestExtra) *string {
	if extra == nil || len(extra.Header[throughHeader]) != 1 {
		return nil
	}
	return &extra.Header[throughHeader][0]
}

// deserted handles a handler that has ended its goroutine. With an [Options.Timeout] the handler ran on a separate goroutine, and its
// call is answered like any other failure. Otherwise the goroutine is the SDK's: the layer around the SDK answers the call, and
// without such a layer the failure is only recorded.
func (g *guard) deserted(ctx context.Context, method string, req mcp.Request) {
	if g.limit(method) > 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if o := streamCalls.find(req.GetExtra()); o != nil {
		go o.answerDeserted(ctx, g, req)
		return
	}
	if a := httpCalls.find(markOf(req.GetExtra())); a != nil {
		go a.give(func() []byte { return a.desertedMessage(ctx, g, method, req) })
		return
	}
	x := g.exchangeOf(method, req)
	if call, ok := req.(*mcp.CallToolRequest); ok && call.Params != nil {
		x.tool = call.Params.Name
	}
	g.b.suppress(ctx, candor.From(errDeserted), contract.VerdictLost, x)
}

// failDeserted records and counts the failure of a handler that has ended its goroutine, and returns the result or the error to
// answer with.
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
	return resultMessage(a.id(), result)
}
