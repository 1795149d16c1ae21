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
					result, err = g.answerPanicked(ctx, method, req, v)
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
				result, err = g.answerPanickedTool(ctx, name, call, v)
			}
		}()
		r := g.callTool(ctx, next, call)
		if r.recorded != "" {
			g.noteRecorded(req, &r)
		}
		return r.result, r.err
	}
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
	thrown any    // value of its panic
	stack  string // stack of its panic
	late   bool   // it did not return in time
}

// reply is the return value of the middleware.
type reply struct {
	result   mcp.Result
	err      error
	failure  *candor.Error // the failure that it reports, for the span
	recorded string        // key of the failure, "" if none was recorded; see [rpcError.key]
}

// run calls a handler and recovers its panics.
func (g *guard) run(ctx context.Context, next mcp.MethodHandler, method string, req mcp.Request) (out outcome) {
	returned := false
	defer func() {
		if v := recover(); v != nil {
			out = outcome{thrown: v, stack: panicStack()}
		} else if !returned {
			g.deserted(ctx, method, req) // runtime.Goexit ends this goroutine, so it cannot return an answer
		}
	}()
	out.result, out.err = next(ctx, method, req)
	returned = true
	return out
}

// thrownError returns the error for a panic. The panic value is the cause, which is not sent, unless it is an error with a public
// message.
func thrownError(out outcome) *candor.Error {
	if err, ok := out.thrown.(error); ok && !errorReturns(err) {
		out.thrown = fmt.Sprint(out.thrown) // fmt prints that the method panicked
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

// call handles every method except tools/call.
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

// answer runs a handler and turns its failure into a JSON-RPC error.
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

// failed turns the failure of a handler into a JSON-RPC error. It takes the claim before it records.
func (g *guard) failed(ctx context.Context, out outcome, x exchange, req mcp.Request, own *claim) reply {
	e, shown := g.failureOf(out, &x)
	if !own.take() {
		return reply{}
	}
	silent := isNotification(x.method)
	// The SDK replaces an error that says "method not found" by its own message. Therefore the layer around the SDK, if there is one,
	// records that error.
	if shown.code == -32601 && shown.message != "" && !silent && g.outside(req) {
		return reply{err: out.err, failure: e}
	}
	return g.protocolError(ctx, e, &x, shown, silent)
}

// failureOf returns the failure of a handler as an error, and the JSON-RPC error to show for it. A JSON-RPC error that the handler
// returned keeps its data, and its number unless that is 0 or wrongly reports an unknown method.
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

// outside reports whether the request came through a layer of the boundary around the SDK, which will see the answer.
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

// throughHeader is the header that marks a request that the HTTP wrapper has passed on. Its value is a nonce that clients do not
// know.
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
