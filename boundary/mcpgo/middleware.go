package mcpgo

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/boundary"
	"github.com/candor-mcp/candor/boundary/internal/adapter"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/usercode"
	"github.com/candor-mcp/candor/wire"
)

// Middleware returns a tool middleware for a server that is served by mcp-go itself. It recovers panics, checks arguments and
// results, and returns every failure of a tool as a result with isError and the envelope. It does not see errors that mcp-go answers
// itself, such as an unknown tool; see [Wrap].
func Middleware(o boundary.Options) server.ToolHandlerMiddleware {
	return (&guard{a: adapter.Of(boundary.New(o)), o: o}).tool
}

// guard is the middleware of one server.
type guard struct {
	a adapter.Adapter
	o boundary.Options
}

func (g *guard) tool(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c := toolCall{guard: g, next: next, req: req, promised: promisedBy(ctx, req.Params.Name)}
		c.known = adapter.Call{Tool: req.Params.Name, Arguments: req.Params.RawArguments, OutputSchema: c.promised.output, Repeatable: c.promised.repeatable,
			Complete: mcp.IsModernProtocol(server.RequestProtocolVersion(ctx))}
		if session := server.ClientSessionFromContext(ctx); session != nil {
			c.known.Session = session.SessionID()
		}
		began := time.Now()
		end := func(*candor.Error) {}
		if g.o.Tracer != nil {
			ctx, end = g.o.Tracer.StartCall(ctx, "tools/call", req.Params.Name, metaOf(req))
		}
		result, e, err := c.handle(ctx)
		if e == nil && err == nil {
			g.a.RecordSuccess(ctx, candor.Success{Tool: c.known.Tool, SessionID: c.known.Session, Arguments: c.known.Arguments, Latency: time.Since(began)})
		}
		end(e)
		return result, err
	}
}

// toolCall is one tools/call request and its handling.
type toolCall struct {
	*guard
	next     server.ToolHandlerFunc
	req      mcp.CallToolRequest
	promised schemas
	known    adapter.Call
}

// handle checks the arguments, runs the tool and checks its result. It also returns the failure, or nil.
func (c *toolCall) handle(ctx context.Context) (*mcp.CallToolResult, *candor.Error, error) {
	if e := c.a.CheckArguments(c.promised.input, c.req.Params.RawArguments); e != nil {
		return c.fail(ctx, e, nil)
	}
	result, err := c.run(ctx)
	switch {
	case err != nil && c.asksForURL(err):
		return nil, nil, err // not a failure: the protocol has a separate error number for it
	case err != nil:
		return c.fail(ctx, err, nil)
	case result == nil:
		return c.fail(ctx, candor.New(candor.CodeEmptyResult, "", candor.WithOrigin(candor.PartyTool, false)), nil)
	case !result.IsError && len(c.promised.output) == 0 && isPlain(result):
		return result, nil, nil
	}
	raw, err := c.encode(result)
	if err != nil {
		return c.fail(ctx, candor.New(candor.CodeResultNotEncodable, "",
			candor.WithOrigin(candor.PartyTool, false), candor.WithCause(err)), nil)
	}
	if result.IsError {
		return c.fail(ctx, nil, raw)
	}
	if len(result.InputRequests) == 0 {
		if e := c.a.CheckOutput(c.promised.output, structured(raw)); e != nil {
			return c.fail(ctx, e, nil)
		}
	}
	return result, nil, nil
}

// fail records a failure and returns the result that reports it.
func (c *toolCall) fail(ctx context.Context, err error, returned json.RawMessage) (*mcp.CallToolResult, *candor.Error, error) {
	raw, e := c.a.FailCall(ctx, c.known, err, returned)
	result := new(mcp.CallToolResult)
	if err := json.Unmarshal(raw, result); err != nil {
		return nil, e, e
	}
	// Send the envelope byte for byte as it was recorded.
	if v, err := wire.ParseValue(raw, wire.Limits{}); err == nil && result.Meta != nil {
		if own := v.Path("_meta", dialect.MetaKey); own.Present() {
			result.Meta.AdditionalFields[dialect.MetaKey] = json.RawMessage(own.Raw())
		}
	}
	return result, e, nil
}

// run calls the tool with its time limit and recovers its panics; see [adapter.Run].
func (c *toolCall) run(ctx context.Context) (*mcp.CallToolResult, error) {
	limit := c.o.Timeout
	if limit <= 0 {
		return c.call(ctx)
	}
	type outcome struct {
		result *mcp.CallToolResult
		err    error
	}
	out, returned, err := adapter.Run(ctx, limit, outcome{err: errDeserted}, func(ctx context.Context) outcome {
		result, err := c.call(ctx)
		return outcome{result, err}
	})
	if !returned {
		out.err = err
	}
	if ctx.Err() == nil && c.asks(out.err, func() bool { return errors.Is(out.err, context.DeadlineExceeded) }) {
		out.err = candor.New(candor.CodeCallTimeout, "", candor.WithOrigin(candor.PartyServer, false),
			candor.WithDetails(map[string]any{"limitMs": limit.Milliseconds()}))
	}
	return out.result, out.err
}

// errDeserted is the error for a handler that ended its goroutine with runtime.Goexit.
var errDeserted = errors.New("the handler ended its goroutine without returning")

func (c *toolCall) call(ctx context.Context) (result *mcp.CallToolResult, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, c.a.Recovered(v)
		}
	}()
	return c.next(ctx, c.req)
}

// asksForURL reports whether err asks the client to send its user to a URL.
func (c *toolCall) asksForURL(err error) bool {
	return c.asks(err, func() bool {
		var (
			value   mcp.URLElicitationRequiredError
			pointer *mcp.URLElicitationRequiredError
		)
		return errors.As(err, &value) || errors.As(err, &pointer)
	})
}

// asks reports whether is returns true for err, with a time limit if err may have foreign methods. It returns false if is panics or
// the limit passes.
func (c *toolCall) asks(err error, is func() bool) bool {
	if usercode.Trusted(err) {
		return is()
	}
	yes, failed := usercode.Call(usercode.LimitFor(c.o.Timeout), func() bool { return usercode.Finite(err) && is() })
	return yes && failed == nil
}

// isPlain reports whether a result can certainly be encoded.
func isPlain(r *mcp.CallToolResult) bool {
	if r.Meta != nil || r.StructuredContent != nil || r.RawStructuredContent != nil || len(r.InputRequests) > 0 {
		return false
	}
	for _, block := range r.Content {
		if text, ok := block.(mcp.TextContent); !ok || text.Meta != nil || text.Annotations != nil {
			return false
		}
	}
	return true
}

// encode encodes a result as mcp-go does, which sends nothing if encoding fails. It also returns an error for content that clients
// cannot read.
func (c *toolCall) encode(r *mcp.CallToolResult) (json.RawMessage, error) {
	for _, block := range r.Content {
		if v := reflect.ValueOf(block); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
			return nil, errors.New("a block of the content is nil") // it would be encoded as null
		}
	}
	return c.a.Encode(r)
}

func structured(result json.RawMessage) json.RawMessage {
	v, err := wire.ParseValue(result, wire.Limits{AllowLoneSurrogates: true})
	if err != nil {
		return nil
	}
	return v.Path("structuredContent").Raw()
}

func metaOf(req mcp.CallToolRequest) map[string]any {
	if req.Params.Meta == nil {
		return nil
	}
	return req.Params.Meta.AdditionalFields
}

// schemas holds the schemas and hints that a tool declares.
type schemas struct {
	input, output json.RawMessage
	repeatable    bool // the tool declares readOnlyHint or idempotentHint
}

// promisedBy looks up the tool among those of the session, then among those of the server, as mcp-go does.
func promisedBy(ctx context.Context, name string) schemas {
	if session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithTools); ok {
		if t, ok := session.GetSessionTools()[name]; ok {
			return schemasOf(t.Tool)
		}
	}
	if s := server.ServerFromContext(ctx); s != nil {
		if t := s.GetTool(name); t != nil {
			return schemasOf(t.Tool)
		}
	}
	return schemas{}
}

func schemasOf(t mcp.Tool) schemas {
	s := schemas{input: t.RawInputSchema, output: t.RawOutputSchema, repeatable: isTrue(t.Annotations.ReadOnlyHint) || isTrue(t.Annotations.IdempotentHint)}
	if s.input == nil && t.InputSchema.Type != "" {
		s.input, _ = json.Marshal(t.InputSchema)
	}
	if s.output == nil && t.OutputSchema.Type != "" {
		s.output, _ = json.Marshal(t.OutputSchema)
	}
	return s
}

func isTrue(hint *bool) bool { return hint != nil && *hint }
