package workbench

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/ref"
	"github.com/candor-mcp/candor/ledger"
)

// receive stands around everything: it begins each call of a tool and ends it.
func (b *Bench) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if list, ok := req.(*mcp.ListToolsRequest); ok && b.system.Lists != nil {
			return b.list(ctx, method, list, next)
		}
		request, ok := req.(*mcp.CallToolRequest)
		if !ok || request.Params == nil {
			return next(ctx, method, req)
		}
		c := b.begin(ctx, request)
		defer b.end(ctx, c)
		result, err := next(context.WithValue(ctx, callKey{}, c), method, req)
		if c.failure != nil && err == nil {
			withDetails(result)
		}
		return result, err
	}
}

// list answers tools/list with the tools that the session of the connection is shown.
func (b *Bench) list(ctx context.Context, method string, request *mcp.ListToolsRequest, next mcp.MethodHandler) (mcp.Result, error) {
	result, err := next(ctx, method, request)
	listed, ok := result.(*mcp.ListToolsResult)
	session := b.sessions.at(b.connection(request.Session))
	if err != nil || !ok || session == nil {
		return result, err
	}
	shown := *listed
	shown.Tools = slices.DeleteFunc(slices.Clone(listed.Tools), func(t *mcp.Tool) bool { return !b.system.Lists(session, t.Name) })
	return &shown, nil
}

// missing lets the system answer calls of names that are not tools.
func (b *Bench) missing(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if request, ok := req.(*mcp.CallToolRequest); ok && request.Params != nil && b.wrapped[request.Params.Name] == nil {
			if e := b.system.Missing(request.Params.Name); e != nil {
				return nil, e
			}
		}
		return next(ctx, method, req)
	}
}

// begin finds out where a call belongs and enters it in the trail. One that could not be entered goes on to where it is refused.
func (b *Bench) begin(ctx context.Context, request *mcp.CallToolRequest) *Call {
	received := request.Params.Arguments
	none := bytes.TrimSpace(received)
	if t := b.wrapped[request.Params.Name]; len(none) == 0 || string(none) == "null" && t != nil && len(t.Required) == 0 && !b.system.StrictNull {
		request.Params.Arguments = json.RawMessage(`{}`) // a client may say by null that it gives none; where some are needed, null is not an object
	}
	c := &Call{Name: request.Params.Name, ID: newID(), Arguments: request.Params.Arguments, bench: b, began: b.now()}
	c.Tool = b.wrapped[c.Name]
	c.place = b.placeOf(request)
	c.Session, c.Stray = b.sessions.of(sessionsNamed(request.Params), c.place)
	c.held = c.Session
	e := c.Entry(ledger.KindEnter)
	e.Args = received
	c.entered = b.trail.append(ctx, e)
	return c
}

// end leaves a call that failed. One that went well was left by run, before its result could be believed.
func (b *Bench) end(ctx context.Context, c *Call) {
	if c.held != nil {
		c.held.release()
	}
	if c.failure == nil || c.entered != nil {
		return
	}
	e := c.Entry(ledger.KindExit)
	e.Outcome, e.Code, e.Ref, e.Latency = outcomeOf(c.failure), c.failure.Code(), c.failure.Ref(), b.now().Sub(c.began)
	if err := b.trail.append(context.WithoutCancel(ctx), e); err != nil {
		b.log.Error("the end of a call could not be recorded; its failure was", slog.String("ref", e.Ref), slog.Any("error", err))
	}
}

func outcomeOf(e *candor.Error) ledger.Outcome {
	if e.Class() == candor.ClassDenied {
		return ledger.OutcomeDenied
	}
	return ledger.OutcomeError
}

// placeOf names the connection of a call, "" if it has none that lasts.
func (b *Bench) placeOf(request *mcp.CallToolRequest) string { return b.connection(request.Session) }

func (b *Bench) connection(session *mcp.ServerSession) string {
	switch {
	case b.stdio:
		return "stdio"
	case session != nil && session.ID() != "":
		return "http:" + session.ID()
	}
	return ""
}

// SessionKey is the member of _meta in which a call may name its session.
const SessionKey = "dev.candor/session"

// sessionsNamed returns the sessions that a call names, in its two places.
func sessionsNamed(p *mcp.CallToolParamsRaw) (names []string) {
	if id, ok := p.Meta[SessionKey].(string); ok && id != "" {
		names = append(names, id)
	}
	var named struct {
		SessionID any `json:"session_id"`
	}
	if json.Unmarshal(p.Arguments, &named) != nil {
		return names
	}
	if id, ok := named.SessionID.(string); ok && id != "" {
		names = append(names, id)
	}
	return names
}

// handle is the one handler of every tool.
func (b *Bench) handle(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	c := callOf(ctx)
	if c == nil || c.Tool == nil {
		return nil, candor.InvariantViolation("INV_CALL_BEGUN", "A tool was reached by a call that nobody has begun.")
	}
	reply, err := b.run(ctx, c)
	if err != nil {
		return nil, err
	}
	return reply.result(), nil
}

// run asks the gate, runs the tool and leaves the call. A reply that the trail does not know of is not given; where the trail knows that the
// effect happened, it is, whether or not the end of the call could be recorded, too.
func (b *Bench) run(ctx context.Context, c *Call) (Reply, error) {
	if refused := b.gate(c); refused != nil {
		return Reply{}, refused
	}
	c.ran = true
	reply, err := c.Tool.Run(ctx, c)
	if err != nil {
		e := candor.From(err)
		if e.Ref() == "" {
			e = e.With(candor.WithRef(ref.New()))
		}
		c.consequences(ctx, e)
		return Reply{}, e
	}
	left := c.Entry(ledger.KindExit)
	left.Outcome, left.Latency = ledger.OutcomeOK, b.now().Sub(c.began)
	if err := b.trail.append(context.WithoutCancel(ctx), left); err != nil {
		if c.stands {
			b.log.Error("the end of a call could not be recorded; its effect was", slog.String("call", c.ID), slog.Any("error", err))
			return reply, nil
		}
		return Reply{}, c.unleft(err)
	}
	return reply, nil
}

// consequences tells the system, once, that its tool has failed. A tool that returned is told of here and now, because what its caller
// hears may be another failure: the call may have been cancelled. One that panicked is told of when the panic has become an error.
func (c *Call) consequences(ctx context.Context, e *candor.Error) {
	if c.told || !c.ran || c.bench.system.Failed == nil {
		return
	}
	c.told = true
	c.bench.system.Failed(ctx, c, e)
}

// unleft is the answer of a call whose end could not be recorded. A tool that changes things has changed them, unless that can be taken back.
func (c *Call) unleft(err error) *candor.Error {
	e := candor.From(err)
	if c.Tool.ReadOnly {
		return e
	}
	if c.revert != nil {
		reverted := c.revert()
		if reverted == nil {
			return e
		}
		c.bench.log.Error("what a call did could not be taken back", slog.String("call", c.ID), slog.Any("error", reverted))
	}
	e = e.With(candor.WithMessage("The action was done, and its end could not be written to the trail."), candor.WithDetails(map[string]any{"effect": "done"}))
	if c.Tool.Idempotent {
		return e // which advises to send the same call again after a while
	}
	return e.With(candor.WithRetry(candor.NoRetry()), candor.WithSuggestion("Look at what the action has changed, and tell the operator; do not repeat it."))
}

// gate says why a call must not be served, nil if it may.
func (b *Bench) gate(c *Call) *candor.Error {
	switch {
	case c.entered != nil:
		return candor.From(c.entered)
	case len(b.findings) > 0:
		return auditRefusal(b.findings)
	case b.system.Gate == nil:
		return nil
	}
	if !c.gated {
		c.gated, c.refused = true, b.system.Gate(c)
	}
	return c.refused
}

// refine gives a failure what only the workbench knows. A call that was refused for its arguments would have been refused at the
// gate, so that is what its caller is told first.
func (b *Bench) refine(ctx context.Context, e *candor.Error) *candor.Error {
	c := callOf(ctx)
	if c == nil { // no call of a tool: a line that is no message, or another method
		c = &Call{bench: b}
		if b.stdio {
			c.Session = b.sessions.at("stdio")
		}
	}
	if c.Tool != nil && !c.ran {
		if refused := b.gate(c); refused != nil {
			e = refused
		}
	}
	if b.system.Refine != nil {
		if refined := b.system.Refine(c, e); refined != nil {
			e = refined
		}
	}
	if s := c.Session; s != nil && e.CallInfo().SessionID == "" {
		e = e.With(candor.WithSession(s.ID, s.Role, s.Root))
	}
	if e.Ref() == "" {
		e = e.With(candor.WithRef(ref.New()))
	}
	c.consequences(ctx, e)
	c.failure = e
	return e
}
