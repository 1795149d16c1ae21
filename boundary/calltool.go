package boundary

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/argerror"
	"github.com/candor-mcp/candor/wire"
)

// toolCall is one tools/call request and its handling.
type toolCall struct {
	g       *guard
	next    mcp.MethodHandler
	req     *mcp.CallToolRequest
	name    string           // of the tool; the handler may change its request
	tool    *tool            // nil if the server does not list the tool
	session string           // "" for that of the request
	raw     *json.RawMessage // the result of another SDK
	program string           // the client's name, set for another SDK
	newEra  bool             // set for another SDK; otherwise the request has the version
	advised bool             // the author of the server gave the retry advice of the failure
}

// observed handles the call. It does not allocate for a successful call without a tracer.
func (c toolCall) observed(ctx context.Context) reply {
	var began time.Time
	if c.g.b.o.Successes {
		began = c.g.b.o.now()
	}
	ctx, end := c.g.b.startCall(ctx, "tools/call", c.name, c.req.Params.Meta)
	if c.tool == nil {
		c.tool = c.g.tools.find(ctx, c.next, c.req)
	}
	r := recovering(
		func() reply { return c.handle(ctx) },
		func(e *candor.Error) reply { return c.failThrown(ctx, e) })
	if end != nil {
		end(r.failure)
	}
	if r.failure == nil && c.g.b.o.Successes {
		x := c.exchange()
		c.g.b.recordSuccess(ctx, candor.Success{Tool: x.tool, SessionID: x.session, Arguments: x.params, Latency: c.g.b.o.now().Sub(began)})
	}
	return r
}

// recordSuccess records a successful call if the ledger records successes.
func (b *Boundary) recordSuccess(ctx context.Context, s candor.Success) {
	trail, ok := b.o.Ledger.(candor.SuccessLedger)
	if !ok {
		return
	}
	if err := trail.RecordSuccess(context.WithoutCancel(ctx), s); err != nil {
		b.o.Logger.ErrorContext(ctx, "a success could not be recorded", slog.String("tool", s.Tool), slog.Any("error", candor.From(err)))
	}
}

// handle checks the arguments, runs the tool and checks its result.
func (c toolCall) handle(ctx context.Context) reply {
	if c.tool != nil && !c.tool.accepts(c.req.Params.Arguments) {
		if e := c.refusal(ctx); e != nil {
			return c.fail(ctx, e, nil)
		}
	}
	out := c.g.run(ctx, c.g.limit("tools/call"), c.next, "tools/call", c.req)
	if out.thrown == nil && out.err == nil && !out.late {
		if result, ok := out.result.(*mcp.CallToolResult); ok && result != nil {
			return c.returned(ctx, result)
		}
	}
	return c.broken(ctx, out)
}

// broken handles a tool that returned no result.
func (c toolCall) broken(ctx context.Context, out outcome) reply {
	switch {
	case out.thrown != nil:
		return c.failThrown(ctx, out.thrown)
	case out.late:
		return c.fail(ctx, c.g.lateError(out), nil)
	case out.err == nil:
		return c.fail(ctx, candor.New(candor.CodeEmptyResult, "", candor.WithOrigin(candor.PartyTool, false)), nil)
	}
	shown, said := saidRPC(out.err)
	if !said || c.raw != nil { // another SDK takes only results
		return c.failWith(ctx, out.err, nil)
	}
	if shown.code == jsonrpc.CodeMethodNotFound {
		// The SDK would replace the message. The method that was called exists, so this is a failure of the tool.
		return c.fail(ctx, attributeToTool(readWords(shown)).With(candor.WithCause(out.err)), nil)
	}
	// The author or the SDK chose a JSON-RPC error, so it remains one.
	x := c.exchange()
	e := read(shown, &x)
	if e.Code() == candor.CodeToolNotFound {
		e = argerror.UnknownTool(c.name, c.g.tools.names(), candor.PartyServer)
	}
	e = e.With(candor.WithCause(out.err))
	c.advised = givesRetry(e)
	if e.Retry().Retryable() { // the SDK's own errors are not, so the handler ran
		e = attributeToTool(e)
	}
	e = c.g.b.refineCall(ctx, e, &x, c.keepsAdvice())
	return c.g.protocolError(ctx, e, &x, shown.improved(e), false)
}

// returned handles a tool that returned a result.
func (c toolCall) returned(ctx context.Context, result *mcp.CallToolResult) reply {
	if done, ok := result.GetError().(sealed); ok { //nolint:errorlint // the mark is never wrapped, and errors.As would cost time
		return reply{result: result, failure: done.err} // isError may be unset, as in pattern B of dual
	}
	if result.IsError {
		return c.reported(ctx, result)
	}
	if err := encodableResult(result); err != nil {
		return c.fail(ctx, notEncodable(err), nil)
	}
	if len(result.Meta) > 0 {
		if e := attached(result); e != nil { // a failure that only _meta reports, which few clients read
			c.advised = givesRetry(e)
			return c.fail(ctx, attribute(e), result)
		}
	}
	if e := c.tool.checkOutput(result); e != nil {
		return c.fail(ctx, e, nil)
	}
	n := resultSize(result)
	c.suspect(ctx, result, n)
	if n >= smallResult {
		if p := callOf(c.req.Extra); p != nil && !p.returned(ctx, n) {
			return c.fail(ctx, candor.From(ctx.Err()), nil) // cancelled while it waited for memory
		}
	}
	return reply{result: result}
}

// reported handles a result with isError. An envelope in it is replaced.
func (c toolCall) reported(ctx context.Context, result *mcp.CallToolResult) reply {
	if err := encodableResult(result); err != nil {
		return c.fail(ctx, notEncodable(err), nil)
	}
	if e := attached(result); e != nil {
		c.advised = givesRetry(e)
		return c.fail(ctx, attribute(e), result)
	}
	if cause := result.GetError(); cause != nil {
		if e := c.sdkRefusal(ctx, result, cause); e != nil {
			return c.fail(ctx, e, nil)
		}
		return c.failWith(ctx, cause, result)
	}
	return c.fail(ctx, readResult(result), result)
}

// failThrown is fail for a panic.
func (c toolCall) failThrown(ctx context.Context, e *candor.Error) reply {
	c.advised = givesRetry(e)
	return c.fail(ctx, e, nil)
}

// failWith is fail for the Go error of a handler.
func (c toolCall) failWith(ctx context.Context, err error, from *mcp.CallToolResult) reply {
	e := c.g.b.understand(err, candor.PartyTool, c.name)
	c.advised = givesRetry(e)
	return c.fail(ctx, attributeToTool(e), from)
}

// sdkRefusal returns the error for arguments that the SDK refused and the boundary had accepted, because the SDK's schema is newer or
// stricter. It returns nil if cause is another error.
func (c toolCall) sdkRefusal(ctx context.Context, result *mcp.CallToolResult, cause error) *candor.Error {
	if len(result.Content) != 1 || !isSDKValidation(cause) {
		return nil
	}
	if c.tool = c.g.tools.again(ctx, c.next, c.req); c.tool != nil {
		if e := c.tool.explain(c.req.Params.Arguments); e != nil {
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
	x := exchange{method: "tools/call", tool: c.name, session: c.session, client: c.client()}
	if c.req.Params != nil {
		x.params = c.req.Params.Arguments
	}
	if c.req.Session != nil {
		x.session = c.req.Session.ID()
	}
	return x
}

// client returns the client program that made the call. Since protocol version 2026-07-28 each request names it.
func (c toolCall) client() contract.Client {
	if info, ok := metaOf(c.req)[mcp.MetaKeyClientInfo].(map[string]any); ok {
		if name, ok := info["name"].(string); ok {
			return contract.ClientOf(name)
		}
	}
	if c.req.Session != nil {
		if p := c.req.Session.InitializeParams(); p != nil && p.ClientInfo != nil {
			return contract.ClientOf(p.ClientInfo.Name)
		}
	}
	return contract.ClientOf(c.program)
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
