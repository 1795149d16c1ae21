package boundary

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
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

// deserted handles a handler that has ended its goroutine. With an [Options.Timeout] it ran on one of its own, and its caller is answered
// as for any other failure. Otherwise the goroutine is the SDK's: a call on a stream is answered by the stream, and any other is
// only recorded.
func (g *guard) deserted(ctx context.Context, method string, req mcp.Request) {
	if g.limit(method) > 0 {
		return
	}
	if o := streamCalls.find(req.GetExtra()); o != nil {
		go g.answerDeserted(context.WithoutCancel(ctx), o, method, req)
		return
	}
	x := g.exchangeOf(method, req)
	if call, ok := req.(*mcp.CallToolRequest); ok && call.Params != nil {
		x.tool = call.Params.Name
	}
	g.b.suppress(ctx, candor.From(errDeserted), contract.VerdictLost, x)
}

// answerDeserted answers a call on a stream whose handler has ended its goroutine.
func (g *guard) answerDeserted(ctx context.Context, o *openCall, method string, req mcp.Request) {
	out := leaving{}
	if call, ok := req.(*mcp.CallToolRequest); ok && call.Params != nil {
		out = toolCall{g: g, req: call}.fail(ctx, candor.From(errDeserted), nil)
	} else {
		x := g.exchangeOf(method, req)
		out = g.protocolError(ctx, candor.From(errDeserted), &x, rpcError{}, isNotification(method))
	}
	answer := &jsonrpc.Response{ID: o.sdk, Error: out.err}
	if out.err == nil {
		raw, err := json.Marshal(out.result)
		if err != nil {
			answer.Error = err
		}
		answer.Result = raw
	}
	if err := o.conn.answer(ctx, answer); err != nil {
		o.conn.end(err)
	}
}
