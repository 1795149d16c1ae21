package boundary

import (
	"context"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/teach"
	"github.com/candor-mcp/candor/internal/usercode"
	"github.com/candor-mcp/candor/wire"
)

// toolCall is one tools/call request and its handling.
type toolCall struct {
	g    *guard
	next mcp.MethodHandler
	req  *mcp.CallToolRequest
	tool *tool // nil if the server does not list the tool

	advised bool // the author of the server gave the retry advice of the failure

	claim *claim // taken before a failure is recorded; nil if no other goroutine could record it
}

// callTool handles tools/call. It does not allocate for a successful call.
func (g *guard) callTool(ctx context.Context, next mcp.MethodHandler, req *mcp.CallToolRequest) reply {
	c := toolCall{g: g, next: next, req: req}
	if g.b.o.Tracer == nil && !g.b.o.Successes {
		return c.handle(ctx)
	}
	return c.observed(ctx)
}

// observed is handle for a server with a tracer, or one that records successes.
func (c toolCall) observed(ctx context.Context) (r reply) {
	began := c.g.b.o.now()
	end := func(*candor.Error) {}
	if c.g.b.o.Tracer != nil {
		ctx, end = c.g.b.startCall(ctx, "tools/call", c.req.Params.Name, c.req.Params.Meta)
	}
	r = reply{failure: unfinished}
	defer func() { end(r.failure) }()
	r = c.handle(ctx)
	if r.failure == nil {
		x := c.exchange()
		c.g.b.recordSuccess(ctx, candor.Success{Tool: x.tool, SessionID: x.session, Arguments: x.params, Latency: c.g.b.o.now().Sub(began)})
	}
	return r
}

// recordSuccess records a successful call, if Options.Successes is set and the ledger records successes.
func (b *Boundary) recordSuccess(ctx context.Context, s candor.Success) {
	trail, ok := b.o.Ledger.(candor.SuccessLedger)
	if !ok || !b.o.Successes {
		return
	}
	if err := trail.RecordSuccess(context.WithoutCancel(ctx), s); err != nil {
		b.o.Logger.ErrorContext(ctx, "a success could not be recorded", slog.String("tool", s.Tool), slog.Any("error", candor.From(err)))
	}
}

// handle checks the arguments, runs the tool and checks its result.
func (c toolCall) handle(ctx context.Context) reply {
	c.tool = c.g.tools.find(ctx, c.next, c.req)
	if c.tool != nil && !c.tool.accepts(c.req.Params.Arguments) {
		if e := c.refusal(ctx); e != nil {
			return c.fail(ctx, e, nil)
		}
	}
	out := c.g.runFor(ctx, c.g.limit("tools/call"), c.next, "tools/call", c.req)
	if out.thrown == nil && out.err == nil && !out.late {
		if result, ok := out.result.(*mcp.CallToolResult); ok && result != nil {
			return c.returned(ctx, result)
		}
	}
	if trustedOutcome(out) {
		return c.broken(ctx, out)
	}
	return c.brokenForeign(ctx, out)
}

// brokenForeign is broken for an outcome with foreign methods. It is a separate function so that a successful call does not allocate
// the closure.
func (c toolCall) brokenForeign(ctx context.Context, out outcome) reply {
	return c.boundedly(ctx, out.stack, func(c toolCall) reply { return c.broken(ctx, out) })
}

// reportedForeign is reported for a result with foreign methods.
func (c toolCall) reportedForeign(ctx context.Context, result *mcp.CallToolResult) reply {
	return c.boundedly(ctx, "", func(c toolCall) reply { return c.reported(ctx, result) })
}

// boundedly runs handle, which may call foreign methods. If handle does not return in time, the call fails for that reason.
func (c toolCall) boundedly(ctx context.Context, stack string, handle func(toolCall) reply) reply {
	return c.g.b.bounded(func(own *claim) reply {
		c := c
		c.claim = own
		return handle(c)
	}, func(e *candor.Error) reply { return c.fail(ctx, withFound(e, stack), nil) })
}

// broken handles a tool that returned no result.
func (c toolCall) broken(ctx context.Context, out outcome) reply {
	x := c.exchange()
	switch {
	case out.thrown != nil:
		e := thrownError(out)
		c.advised = givesRetry(e)
		return c.fail(ctx, e, nil)
	case out.late:
		return c.fail(ctx, c.g.lateError(out), nil)
	case out.err == nil:
		return c.fail(ctx, candor.New(candor.CodeEmptyResult, "", candor.WithOrigin(candor.PartyTool, false)), nil)
	case !usercode.Finite(out.err):
		return c.fail(ctx, candor.From(out.err, candor.WithOrigin(candor.PartyTool, false)), nil)
	}
	shown, said := saidRPC(out.err)
	if !said {
		return c.failWith(ctx, out.err, nil)
	}
	if shown.code == jsonrpc.CodeMethodNotFound {
		// The SDK would replace the message. The method that was called exists, so this is a failure of the tool.
		return c.fail(ctx, attributeToTool(readWords(shown)).With(candor.WithCause(out.err)), nil)
	}
	// The author or the SDK chose a JSON-RPC error, so it remains one.
	e := read(shown, &x)
	if e.Code() == candor.CodeToolNotFound {
		e = teach.UnknownTool(c.req.Params.Name, c.g.tools.names(), candor.PartyServer)
	}
	e = e.With(candor.WithCause(out.err))
	c.advised = e.RetryGiven() && !e.Origin().Inferred
	e = c.g.b.refineCall(ctx, e, &x, c.keepsAdvice())
	if !c.claim.take() {
		return reply{}
	}
	return c.g.protocolError(ctx, e, &x, shown.improved(e), false)
}

// returned handles a tool that returned a result.
func (c toolCall) returned(ctx context.Context, result *mcp.CallToolResult) reply {
	if done, ok := result.GetError().(sealed); ok { //nolint:errorlint // the mark is never wrapped, and errors.As would cost time
		return reply{result: result, failure: done.err} // isError may be unset, as in pattern B of dual
	}
	if result.IsError {
		if trustedResult(result) {
			return c.reported(ctx, result)
		}
		return c.reportedForeign(ctx, result)
	}
	result, err := c.g.b.encodableResult(result)
	if err != nil {
		return c.fail(ctx, notEncodable(err), nil)
	}
	if len(result.Meta) > 0 {
		if e := attached(result); e != nil { // a failure that only _meta reports, which few clients read
			c.advised = givesRetry(e)
			return c.fail(ctx, attribute(e), result)
		}
	}
	c.g.b.results.add(quickSize(result))
	if e := c.tool.checkOutput(result); e != nil {
		return c.fail(ctx, e, nil)
	}
	return reply{result: result}
}

// reported handles a result with isError. An envelope in it is replaced.
func (c toolCall) reported(ctx context.Context, result *mcp.CallToolResult) reply {
	if c.claim != nil {
		var err error
		if result, err = encodeOnce(result); err != nil {
			return c.fail(ctx, notEncodable(err), nil)
		}
	}
	if e := attached(result); e != nil {
		c.advised = givesRetry(e)
		return c.fail(ctx, attribute(e), result)
	}
	if cause := result.GetError(); cause != nil {
		if !usercode.Finite(cause) {
			return c.fail(ctx, candor.From(cause, candor.WithOrigin(candor.PartyTool, false)), nil)
		}
		if e := c.sdkRefusal(ctx, result, cause); e != nil {
			return c.fail(ctx, e, nil)
		}
		return c.failWith(ctx, cause, result)
	}
	return c.fail(ctx, readResult(result), result)
}

// failWith is fail for the Go error of a handler.
func (c toolCall) failWith(ctx context.Context, err error, from *mcp.CallToolResult) reply {
	e := c.g.b.understand(err, candor.PartyTool)
	c.advised = givesRetry(e)
	return c.fail(ctx, attributeToTool(e), from)
}

// sdkRefusal returns the error for arguments that the SDK refused and the boundary had accepted, because the SDK's schema is newer or
// stricter. It returns nil if cause is another error.
func (c toolCall) sdkRefusal(ctx context.Context, result *mcp.CallToolResult, cause error) *candor.Error {
	if len(result.Content) != 1 || !isSDKValidation(cause) {
		return nil
	}
	c.tool = c.g.tools.again(ctx, c.next, c.req)
	if c.tool != nil {
		if e := c.refusal(ctx); e != nil {
			return e
		}
	}
	return candor.New(candor.CodeInvalidArguments, "", candor.WithOrigin(candor.PartyServer, false), candor.WithCause(cause))
}

// refusal returns the error for invalid arguments, or nil if they are valid.
func (c toolCall) refusal(ctx context.Context) *candor.Error {
	e := c.tool.explain(c.req.Params.Arguments)
	if e == nil {
		return nil
	}
	if now := c.g.tools.again(ctx, c.next, c.req); now != nil && now.listed != c.tool.listed {
		return now.explain(c.req.Params.Arguments) // the tool was replaced in the meantime
	}
	return e
}

func (c toolCall) exchange() exchange {
	x := exchange{method: "tools/call", tool: c.req.Params.Name, params: c.req.Params.Arguments}
	if c.req.Session != nil {
		x.session = c.req.Session.ID()
	}
	return x
}

// isNewEra reports whether the _meta of a request has protocol version 2026-07-28 or later, in which every result has a resultType.
func isNewEra(meta mcp.Meta) bool {
	version, _ := meta[mcp.MetaKeyProtocolVersion].(string)
	return version >= "2026-07-28"
}

// paramsNewEra is isNewEra for params that were not decoded.
func paramsNewEra(params []byte) bool {
	v, err := wire.ParseValue(params, wire.Limits{AllowLoneSurrogates: true})
	if err != nil {
		return false
	}
	version, _ := v.Path("_meta", mcp.MetaKeyProtocolVersion).Str()
	return version >= "2026-07-28"
}
