package workbench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/record"
	"github.com/candor-mcp/candor/internal/ref"
	"github.com/candor-mcp/candor/ledger"
)

// receive is the outermost middleware: it begins and ends each tools/call.
func (b *Bench) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if extra := req.GetExtra(); b.telemetry != nil && extra != nil && extra.Header != nil {
			ctx = b.telemetry.Join(ctx, extra.Header)
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

// missing lets the system answer calls of unknown tools, and refuses to read resources, which no system has.
func (b *Bench) missing(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "resources/read" {
			return nil, candor.New(candor.CodeResourceNotFound, "", candor.WithOrigin(candor.PartyServer, false),
				candor.WithSuggestion("This server has no resources. Call tools/list and use its tools."))
		}
		if b.system.Missing == nil {
			return next(ctx, method, req)
		}
		if request, ok := req.(*mcp.CallToolRequest); ok && request.Params != nil && b.wrapped[request.Params.Name] == nil {
			if e := b.system.Missing(request.Params.Name); e != nil {
				return nil, e
			}
		}
		return next(ctx, method, req)
	}
}

// begin creates the Call, finds its session and writes its enter entry. If the entry cannot be written, gate refuses the call.
func (b *Bench) begin(ctx context.Context, request *mcp.CallToolRequest) *Call {
	received := request.Params.Arguments
	none := bytes.TrimSpace(received)
	if t := b.wrapped[request.Params.Name]; len(none) == 0 || string(none) == "null" && t != nil && len(t.Required) == 0 && !b.system.StrictNull {
		request.Params.Arguments = json.RawMessage(`{}`) // null means no arguments, unless some are required
	}
	c := &Call{Name: request.Params.Name, ID: newID(), Arguments: request.Params.Arguments, bench: b, client: request.Session, start: time.Now()}
	c.Tool = b.wrapped[c.Name]
	c.conn = b.connection(request.Session)
	c.Session, c.Stray = b.sessions.of(sessionsNamed(request.Params), c.conn)
	c.acquired = c.Session
	e := c.Entry(ledger.KindEnter)
	e.Args = received
	c.enterErr = b.trail.append(ctx, e)
	return c
}

// end writes the exit entry of a failed call. The exit entry of a successful call is written by run, before the reply is
// sent.
func (b *Bench) end(ctx context.Context, c *Call) {
	if c.acquired != nil {
		c.acquired.release()
	}
	if c.failure == nil || c.enterErr != nil {
		return
	}
	e := c.Entry(ledger.KindExit)
	e.Outcome, e.Code, e.Ref, e.Latency = outcomeOf(c.failure), c.failure.Code(), c.failure.Ref(), time.Since(c.start)
	if err := b.trail.append(context.WithoutCancel(ctx), e); err != nil {
		b.log.Error("recording the exit of a failed call", slog.String("ref", e.Ref), slog.Any("error", err))
	}
}

func outcomeOf(e *candor.Error) ledger.Outcome {
	if e.Class() == candor.ClassDenied {
		return ledger.OutcomeDenied
	}
	return ledger.OutcomeError
}

// connection identifies the connection of a request; it returns "" if the connection does not outlast the request.
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

// sessionsNamed returns the session ids in _meta and in the arguments of a call.
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

// handle is the handler of every tool.
func (b *Bench) handle(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	c := callOf(ctx)
	if c == nil || c.Tool == nil {
		return nil, candor.New(kaiza.InvariantViolation, "A tool was called past the workbench.",
			candor.WithCallInfo(candor.CallInfo{InvariantID: "INV_CALL_BEGUN"}), candor.WithOrigin(candor.PartyServer, false))
	}
	reply, err := b.run(ctx, c)
	if err != nil {
		return nil, err
	}
	return reply.result(), nil
}

// run calls the gate, runs the tool and writes the exit entry. If the entry cannot be written, run returns an error
// instead of the reply, unless the trail already records the effect.
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
		c.notify(ctx, e)
		return Reply{}, e
	}
	exit := c.Entry(ledger.KindExit)
	exit.Outcome, exit.Latency = ledger.OutcomeOK, time.Since(c.start)
	if err := b.trail.append(context.WithoutCancel(ctx), exit); err != nil {
		if c.effective {
			b.log.Error("recording the exit of a call whose effect is recorded", slog.String("call", c.ID), slog.Any("error", err))
			return reply, nil
		}
		return Reply{}, c.notRecorded(err)
	}
	return reply, nil
}

// notify calls System.Failed once. It is called when the tool returns an error, because the client may get a different
// failure if the call was cancelled. For a tool that panicked, it is called when the panic has become an error.
func (c *Call) notify(ctx context.Context, e *candor.Error) {
	if c.notified || !c.ran || c.bench.system.Failed == nil {
		return
	}
	c.notified = true
	c.bench.system.Failed(ctx, c, e)
}

// notRecorded returns the error of a call if its exit entry could not be written. It states that the action was done,
// unless the tool is read-only or the call was reverted.
func (c *Call) notRecorded(err error) *candor.Error {
	e := candor.From(err)
	if c.Tool.ReadOnly {
		return e
	}
	if c.revert != nil {
		c.revert()
		return e
	}
	e = e.With(candor.WithMessage("The action was done, and its end could not be written to the trail."), candor.WithDetails(map[string]any{"effect": "done"}))
	if c.Tool.Idempotent {
		return e // its suggestion is to retry later
	}
	return e.With(candor.WithRetry(candor.NoRetry()), candor.WithSuggestion("Check what the action has changed and inform the operator; do not repeat it."))
}

// gate returns the reason why a call is refused, or nil.
func (b *Bench) gate(c *Call) *candor.Error {
	switch {
	case c.enterErr != nil:
		return candor.From(c.enterErr)
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

// refine adds session and ref to a failure and lets the system refine it. If a call failed before its tool ran, for
// example because of its arguments, a refusal of the gate takes precedence.
func (b *Bench) refine(ctx context.Context, e *candor.Error) *candor.Error {
	c := callOf(ctx)
	if c == nil { // not a tools/call: a malformed line, or another method
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
	if !c.ran && e.Code() == candor.CodeTooLarge { // arguments that cannot be checked: the systems have one code for all invalid arguments
		e = Recode(e, candor.CodeInvalidArguments, e.Message())
	}
	if b.system.Refine != nil {
		if refined := b.system.Refine(c, e); refined != nil {
			e = refined
		}
	}
	none := e.Code().Info().Effect == "none" || e.Details().Get("effect").String() == strconv.Quote(record.EffectNone) || c.Tool != nil && !c.ran
	if none { // nothing was done, so the boundary keeps the advice to repeat the call
		e = e.With(candor.WithRetry(e.Retry()))
	}
	if s := c.Session; s != nil && e.CallInfo().SessionID == "" {
		e = e.With(candor.WithSession(s.ID, s.Role, s.Root))
	}
	if e.Ref() == "" {
		e = e.With(candor.WithRef(ref.New()))
	}
	c.notify(ctx, e)
	c.failure = e
	return e
}

// withDetails appends the details of a failure to its result as a text block, because a model sees only text and a suggestion may refer to
// them. They are bounded, redacted and free of control characters. The prefix keeps dialect readers from taking the block for an envelope.
func withDetails(result mcp.Result) {
	failed, ok := result.(*mcp.CallToolResult)
	if !ok || failed == nil || failed.Meta[dialect.MetaKey] == nil {
		return
	}
	e, ok := errors.AsType[*candor.Error](failed.GetError())
	if !ok || e.Details().IsZero() {
		return
	}
	text := bytes.NewBufferString("Details: ")
	if json.Indent(text, []byte(e.Details().String()), "", " ") != nil {
		return
	}
	failed.Content = append(failed.Content[:len(failed.Content):len(failed.Content)], &mcp.TextContent{Text: text.String()})
}
