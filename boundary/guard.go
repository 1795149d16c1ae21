package boundary

import (
	"context"
	"reflect"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
)

// guard is the middleware of one server.
type guard struct {
	b     *Boundary
	tools toolbox
}

// receive is the receiving middleware.
func (g *guard) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		r := g.handle(ctx, next, method, req)
		if p := callOf(req.GetExtra()); p != nil && r.recorded != "" {
			p.set(r.recorded)
		}
		return r.result, r.err
	}
}

// handle handles one request.
func (g *guard) handle(ctx context.Context, next mcp.MethodHandler, method string, req mcp.Request) reply {
	if e := g.admit(ctx, method, req); e != nil {
		x := g.exchangeOf(method, req)
		return g.protocolError(ctx, e, &x, rpcError{}, false)
	}
	if call, ok := req.(*mcp.CallToolRequest); ok && call.Params != nil {
		return toolCall{g: g, next: next, req: call, name: call.Params.Name}.observed(ctx)
	}
	ctx, end := g.b.startCall(ctx, method, "", metaOf(req))
	r := recovering(
		func() reply { return g.answer(ctx, next, method, req) },
		func(e *candor.Error) reply {
			x := g.exchangeOf(method, req)
			return g.protocolError(ctx, e, &x, rpcError{}, isNotification(method))
		})
	if end != nil {
		end(r.failure)
	}
	return r
}

// startCall calls the tracer. The returned function is nil without one.
func (b *Boundary) startCall(ctx context.Context, method, tool string, meta map[string]any) (context.Context, func(*candor.Error)) {
	if b.o.Tracer == nil {
		return ctx, nil
	}
	return b.o.Tracer.StartCall(ctx, method, tool, meta)
}

// recovering returns what run returns. If a handler, or a method of a value that it returned, panics, it returns what panicked returns.
func recovering(run func() reply, panicked func(*candor.Error) reply) (r reply) {
	defer func() {
		if v := recover(); v != nil {
			r = panicked(thrownError(v))
		}
	}()
	return run()
}

// thrownError returns the error for a panic. The value is the cause, which is not sent, unless it is an error with a public message.
// Call it in the deferred function that has recovered the panic.
func thrownError(v any) *candor.Error {
	e := candor.FromUnknown(v)
	if e == nil {
		e = candor.New(candor.CodeInternalError, "", candor.WithOrigin(candor.PartyServer, false))
	}
	if stack := panicStack(); stack != "" {
		e = e.With(candor.WithStack(stack))
	}
	return e
}

// admit waits until a call that a layer has passed on may run. It returns the error for a call that may not.
func (g *guard) admit(ctx context.Context, method string, req mcp.Request) *candor.Error {
	p := callOf(req.GetExtra())
	if p == nil || ungated(method) {
		return nil
	}
	if p.conn != nil && !p.start(ctx, p.conn.limit, streamCallWait) && ctx.Err() == nil {
		return p.conn.limit.tooManyCalls()
	}
	if ctx.Err() == nil && p.await(ctx, forever) {
		return nil
	}
	if p.conn != nil && p.conn.calls.stopped() {
		return candor.New(candor.CodeUnavailable, "The server is shutting down.", candor.WithOrigin(candor.PartyServer, false))
	}
	return candor.New(candor.CodeCancelled, "", candor.WithOrigin(candor.PartyClient, false))
}

// send is the sending middleware. It discards the known tools when the server notifies its clients that its tools have changed.
func (g *guard) send(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "notifications/tools/list_changed" {
			g.tools.forget()
		}
		return next(ctx, method, req)
	}
}

// outcome is the outcome of a handler.
type outcome struct {
	result mcp.Result
	err    error
	thrown *candor.Error // its panic, if it ran in another goroutine
	late   bool          // it did not return in time
}

// reply is the return value of the middleware.
type reply struct {
	result   mcp.Result
	err      error
	failure  *candor.Error // the failure that it reports, for the span
	recorded string        // key of the failure, "" if none was recorded; see [rpcError.key]
}

// answer runs a handler and turns its failure into a JSON-RPC error.
func (g *guard) answer(ctx context.Context, next mcp.MethodHandler, method string, req mcp.Request) reply {
	if e := badLevel(req); e != nil {
		x := g.exchangeOf(method, req)
		return g.protocolError(ctx, e, &x, rpcError{}, false)
	}
	out := g.run(ctx, g.limit(method), next, method, req)
	silent := isNotification(method)
	x := g.exchangeOf(method, req)
	switch {
	case out.thrown != nil, out.late, out.err != nil:
		return g.failed(ctx, out, x)
	case silent:
		return reply{result: out.result}
	case isNil(out.result):
		e := candor.New(candor.CodeEmptyResult, "", candor.WithOrigin(candor.PartyServer, false))
		return g.protocolError(ctx, e, &x, rpcError{}, silent)
	}
	if err := encodable(out.result); err != nil {
		return g.protocolError(ctx, notEncodable(err), &x, rpcError{}, silent)
	}
	g.announce(out.result)
	return reply{result: out.result}
}

// failed turns the failure of a handler into a JSON-RPC error.
func (g *guard) failed(ctx context.Context, out outcome, x exchange) reply {
	e, shown := g.failureOf(out, &x)
	silent := isNotification(x.method)
	// The SDK replaces an error that says "method not found" by its own message. Therefore the layer around the SDK records it.
	if shown.code == jsonrpc.CodeMethodNotFound && !silent {
		return reply{err: out.err, failure: e}
	}
	return g.protocolError(ctx, e, &x, shown, silent)
}

// failureOf returns the failure of a handler as an error, and the JSON-RPC error to show for it. A JSON-RPC error that the handler
// returned keeps its data, and its number unless that is 0 or wrongly reports an unknown method.
func (g *guard) failureOf(out outcome, x *exchange) (*candor.Error, rpcError) {
	switch {
	case out.thrown != nil:
		return out.thrown, rpcError{}
	case out.late:
		return g.lateError(out), rpcError{}
	}
	shown, said := saidRPC(out.err)
	if !said {
		return g.b.understand(out.err, candor.PartyServer, ""), rpcError{}
	}
	if shown.code == jsonrpc.CodeMethodNotFound && (x.method == "prompts/get" || x.method == "resources/read") {
		e := readWords(shown) // the method exists, and the SDK would replace the message of this number
		shown.code = jsonrpc.CodeInternalError
		return e.With(candor.WithCause(out.err)), shown.improved(e)
	}
	e := read(shown, x)
	return e.With(candor.WithCause(out.err)), shown.improved(e)
}

func isNotification(method string) bool { return strings.HasPrefix(method, "notifications/") }

// exchangeOf describes a request. It omits the params, which were decoded, except the name of a prompt.
func (g *guard) exchangeOf(method string, req mcp.Request) exchange {
	x := exchange{method: method}
	if session := req.GetSession(); session != nil && !reflect.ValueOf(session).IsNil() {
		x.session = session.ID()
	}
	if p, ok := req.GetParams().(*mcp.GetPromptParams); ok && p != nil {
		x.params = append(append([]byte(`{"name":`), quoted(p.Name)...), '}')
	}
	return x
}

// throughHeader is the header that marks a request that the HTTP wrapper has passed on. The address of its value identifies the request.
const throughHeader = "Candor-Boundary"

// isNil reports whether r is nil or a nil pointer.
func isNil(r mcp.Result) bool {
	if r == nil {
		return true
	}
	v := reflect.ValueOf(r)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

func metaOf(req mcp.Request) map[string]any {
	params := req.GetParams()
	if params == nil || reflect.ValueOf(params).IsNil() {
		return nil
	}
	return params.GetMeta()
}
