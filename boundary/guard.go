package boundary

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/usercode"
)

// guard is the middleware of one server.
type guard struct {
	b     *Boundary
	tools toolbox
}

// receive is the receiving middleware.
func (g *guard) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		ctx, end := g.b.running.begin(ctx)
		defer end()
		call, ok := req.(*mcp.CallToolRequest)
		if !ok || call.Params == nil {
			defer func() {
				if v := recover(); v != nil {
					result, err = g.stumbled(ctx, method, req, v)
				}
			}()
			r := g.call(ctx, next, method, req)
			if r.recorded != "" {
				g.noteRecorded(req, &r)
			}
			return r.result, r.err
		}
		name := call.Params.Name // a handler may change its request
		defer func() {
			if v := recover(); v != nil {
				result, err = g.stumbledTool(ctx, name, call, v)
			}
		}()
		r := g.callTool(ctx, next, call)
		if r.recorded != "" {
			g.noteRecorded(req, &r)
		}
		return r.result, r.err
	}
}

// send is the sending middleware: a server that says its tools have changed is asked for them again.
func (g *guard) send(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "notifications/tools/list_changed" {
			g.tools.forget()
		}
		return next(ctx, method, req)
	}
}

// outcome is what a handler did.
type outcome struct {
	result mcp.Result
	err    error
	thrown any    // what it panicked with
	stack  string // where it panicked
	late   bool   // it has not returned in time
}

// reply is what the middleware answers with.
type reply struct {
	result   mcp.Result
	err      error
	failure  *candor.Error // that it tells of, for the span
	recorded string        // the key of the failure, "" if none was recorded; see [rpcError.key]
}

// run calls a handler and survives it.
func (g *guard) run(ctx context.Context, next mcp.MethodHandler, method string, req mcp.Request) (out outcome) {
	returned := false
	defer func() {
		if v := recover(); v != nil {
			out = outcome{thrown: v, stack: panicStack()}
		} else if !returned {
			g.deserted(ctx, method, req) // runtime.Goexit: this goroutine is going, and with it the way to answer
		}
	}()
	out.result, out.err = next(ctx, method, req)
	returned = true
	return out
}

// thrown turns a panic into an error. What was thrown is for the operator; an error that was meant for the peer stays what it is.
func thrownError(out outcome) *candor.Error {
	if err, ok := out.thrown.(error); ok && !speaks(err) {
		out.thrown = fmt.Sprint(out.thrown) // which says that it panicked
	}
	e := candor.FromUnknown(out.thrown, candor.WithOrigin(candor.PartyServer, false))
	if e == nil { // a panic with nil
		e = candor.New(candor.CodeInternalError, "", candor.WithOrigin(candor.PartyServer, false))
	}
	if out.stack != "" {
		e = e.With(candor.WithStack(out.stack))
	}
	return e
}

// call handles every method but tools/call.
func (g *guard) call(ctx context.Context, next mcp.MethodHandler, method string, req mcp.Request) (r reply) {
	if g.b.o.Tracer == nil {
		return g.answer(ctx, next, method, req)
	}
	ctx, end := g.b.startCall(ctx, method, "", metaOf(req))
	r = reply{failure: unfinished}
	defer func() { end(r.failure) }()
	r = g.answer(ctx, next, method, req)
	return r
}

// answer runs a handler and makes its failure a JSON-RPC error.
func (g *guard) answer(ctx context.Context, next mcp.MethodHandler, method string, req mcp.Request) reply {
	if e := badLevel(req); e != nil {
		x := g.exchangeOf(method, req)
		return g.protocolError(ctx, e, &x, rpcError{}, false)
	}
	out := g.runFor(ctx, g.limit(method), next, method, req)
	silent := isNotification(method)
	x := g.exchangeOf(method, req)
	if !trustedOutcome(out) {
		return g.failedForeign(ctx, out, x, req)
	}
	switch {
	case out.thrown != nil, out.late, out.err != nil:
		return g.failed(ctx, out, x, req, nil)
	case silent:
		return reply{result: out.result}
	case isNil(out.result):
		e := candor.New(candor.CodeEmptyResult, "", candor.WithOrigin(candor.PartyServer, false))
		return g.protocolError(ctx, e, &x, rpcError{}, silent)
	}
	if err := g.b.encodable(method, out.result); err != nil {
		return g.protocolError(ctx, notEncodable(err), &x, rpcError{}, silent)
	}
	g.announce(out.result)
	return reply{result: out.result}
}

// failedForeign is failed for an outcome with foreign methods.
func (g *guard) failedForeign(ctx context.Context, out outcome, x exchange, req mcp.Request) reply {
	return g.b.bounded(func(own *claim) reply { return g.failed(ctx, out, x, req, own) },
		func(e *candor.Error) reply {
			return g.protocolError(ctx, withFound(e, out.stack), &x, rpcError{}, isNotification(x.method))
		})
}

// failed makes the failure of a handler a JSON-RPC error. It takes the claim before it records.
func (g *guard) failed(ctx context.Context, out outcome, x exchange, req mcp.Request, own *claim) reply {
	e, shown := g.failureOf(out, &x)
	if !own.take() {
		return reply{}
	}
	silent := isNotification(x.method)
	// The SDK replaces an error that says "method not found" by its own words, so the layer around it records that one, where there is
	// such a layer.
	if shown.code == -32601 && shown.message != "" && !silent && g.outside(req) {
		return reply{err: out.err, failure: e}
	}
	return g.protocolError(ctx, e, &x, shown, silent)
}

// failureOf expresses the failure of a handler. A JSON-RPC error keeps its number, message and data.
func (g *guard) failureOf(out outcome, x *exchange) (*candor.Error, rpcError) {
	switch {
	case out.thrown != nil:
		return thrownError(out), rpcError{}
	case out.late:
		return g.lateError(out), rpcError{}
	case !usercode.Finite(out.err):
		return candor.From(out.err), rpcError{}
	}
	shown, said := saidRPC(out.err)
	if !said {
		return g.b.understand(out.err, candor.PartyServer), rpcError{}
	}
	if shown.code == jsonrpc.CodeMethodNotFound && (x.method == "prompts/get" || x.method == "resources/read") {
		e := readWords(shown) // the method exists; the SDK would replace this number's message by its own
		shown.code = jsonrpc.CodeInternalError
		return e.With(candor.WithCause(out.err)), shown.improved(e)
	}
	e := read(shown, x)
	return e.With(candor.WithCause(out.err)), shown.improved(e)
}

func isNotification(method string) bool { return strings.HasPrefix(method, "notifications/") }

// exchangeOf describes a request. Its params are not kept: they were decoded, and only those of tools are worth a digest.
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

// outside reports whether the request came through one of the boundary's own layers around the SDK, which will see the answer.
func (g *guard) outside(req mcp.Request) bool {
	extra := req.GetExtra()
	if extra == nil {
		return false
	}
	if extra == throughStream || streamCalls.find(extra) != nil {
		return true
	}
	mark := extra.Header[throughHeader]
	return len(mark) == 1 && mark[0] == throughNonce
}

// throughHeader marks a request that the HTTP wrapper has passed on, with a nonce that no client knows.
const throughHeader = "Candor-Boundary"

// isNil reports a nil in an interface: handlers return typed ones.
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
