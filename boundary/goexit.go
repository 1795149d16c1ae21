package boundary

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

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
