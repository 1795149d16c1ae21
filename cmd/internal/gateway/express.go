package gateway

import (
	"context"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/internal/tail"
	"github.com/candor-mcp/candor/internal/teach"
	"github.com/candor-mcp/candor/wire"
)

// failure is a failed call on its way to the client.
type failure struct {
	err       *candor.Error
	verdict   contract.Verdict
	said      []byte // what the upstream sent
	answer    []byte // the same to the byte, to know it again
	suspected bool   // it is passed on untouched
	retried   bool   // another attempt follows
	silent    bool   // nobody may be answered
}

// edge is the gateway as the place where failures leave.
func (c *Call) edge() tail.Edge {
	o := &c.up.Options
	return tail.Edge{By: candor.PartyGateway, Meter: o.Meter, Logger: o.Logger, Now: o.Now, Ref: o.NewRef}
}

// place is what the gateway knows better than anybody: an upstream that says in an envelope which tool was called in which session
// would choose our labels.
func (c *Call) place() tail.Place { return tail.Place{Tool: c.tool, Session: c.session, Sure: true} }

// stamp gives an error a ref, the time and the place.
func (c *Call) stamp(e *candor.Error) *candor.Error { return c.edge().Stamp(e, c.place()) }

// express writes the answer of a failed call as the mode says, after it was settled.
func (c *Call) express(ctx context.Context, f failure, m *wire.Message) []byte {
	out := c.normalised(f, m)
	if audit := c.settle(ctx, f, out); audit != nil {
		return c.made(audit)
	}
	c.remember(f, f.answer)
	return out
}

// normalised is the failing answer as the client gets it.
func (c *Call) normalised(f failure, m *wire.Message) []byte {
	mode := c.up.Options.Mode
	switch {
	case f.verdict == contract.VerdictMalformed, f.verdict == contract.VerdictStray:
		return c.made(f.err) // there is nothing to keep
	case mode == ModeStrict && m.Kind() == wire.KindError:
		return c.withheldError(f.err, m)
	case mode == ModeStrict:
		return c.made(c.withheld(f.err, c.departures.own()))
	case m.Kind() == wire.KindMalformed:
		return c.made(f.err) // its words are understood, but a client that is strict would never see them
	case mode == ModeObserve:
		return f.said
	case f.err.Code() != candor.CodeToolNotFound && c.up.Options.Rules.asResult(c, m):
		return c.made(f.err)
	}
	cleaned := wire.Parse(withoutNullTwin(clean(nil, m)), c.up.Options.Limits.Message)
	if cleaned.Kind() == wire.KindMalformed {
		return c.made(f.err)
	}
	out, err := contract.Normalise(nil, &cleaned, f.err, candor.JSONOptions{})
	if err != nil {
		return c.made(f.err)
	}
	return c.withToolNames(out, f.err)
}

// withoutNullTwin returns a failing answer without the null that stands beside its result or its error. Clients that check the members
// of a response refuse one that has both.
func withoutNullTwin(answer []byte) []byte {
	m := wire.Parse(answer, wire.Limits{AllowLoneSurrogates: true})
	kept, member := m.Result(), "result"
	if m.Shape() == wire.KindError {
		kept, member = m.Error(), "error"
	}
	if m.Value().Path("result").Present() != m.Value().Path("error").Present() || !kept.Present() {
		return answer
	}
	out := append(append([]byte(`{"jsonrpc":"2.0","id":`), m.ID()...), `,"`+member+`":`...)
	return append(append(out, kept.Raw()...), '}')
}

// withheld is an error without the upstream's words: its code's own sentence stands in for them. The ledger keeps what was said.
// Found are details that are the gateway's own.
func (c *Call) withheld(e *candor.Error, found any) *candor.Error {
	shown := candor.New(e.Code(), "", candor.WithRetry(withheldRetry(e)), candor.WithOrigin(e.Origin().By, e.Origin().Inferred),
		candor.WithRef(e.Ref()), candor.WithTime(e.Time()), candor.WithTool(c.tool), candor.WithSession(c.session, "", ""), candor.WithDetails(found))
	if c.IsTool() && e.Code() == candor.CodeToolNotFound {
		return teach.UnknownTool(c.tool, c.listedNames(), e.Origin().By).With(candor.WithOrigin(e.Origin().By, e.Origin().Inferred),
			candor.WithRef(e.Ref()), candor.WithTime(e.Time()), candor.WithSession(c.session, "", ""))
	}
	suggestion := ""
	if asksForCheck(e) {
		suggestion = contract.CheckEffect
		shown = shown.With(candor.WithSuggestion(suggestion))
	}
	if e.Code() != candor.CodeUnknownToolFailure {
		return shown
	}
	// The sentence of this code says that there were no words, and what to do is to read them. Neither is true here.
	return shown.With(candor.WithMessage("The tool reported a failure, and its own words are withheld."),
		candor.WithSuggestion(strings.TrimSpace(suggestion+" Report it with the reference, under which the operator finds the tool's own words.")))
}

// withheldRetry is the advice beside a sentence of the catalogue. An upstream may say how long to wait, or not to repeat the call; it may
// not ask for a repetition that the sentence contradicts.
func withheldRetry(e *candor.Error) candor.Retry {
	if own := e.Code().Retry(); e.Retry().Retryable() && !own.Retryable() {
		return own
	}
	return e.Retry()
}

// withheldError is a JSON-RPC error without the upstream's words. Its number stays, and its data where the protocol itself says
// what they hold and a client cannot go on without them.
func (c *Call) withheldError(e *candor.Error, m *wire.Message) []byte {
	shown := c.withheld(e, c.departures.own())
	out := rpc.Write(nil, shown, dialect.Options{ID: c.id, Response: true, Now: e.Time()})
	number := m.Error().Path("code")
	out, err := splice.SetMember(nil, out, []string{"error", "code"}, number.Raw())
	if err != nil {
		return c.made(shown)
	}
	data := m.Error().Path("data")
	switch n, _ := number.Int64(); {
	case c.isMissingResource(data):
	case data.Type() == wire.TypeObject && (n == -32042 || n <= -32020 && n >= -32022):
		own, _ := wire.ParseValue(shown.AppendJSON(nil, candor.JSONOptions{}), wire.Limits{})
		cleaned := cleanValue(data)
		if kept, err := splice.SetMember(nil, cleaned, []string{dialect.MetaKey}, own.Raw()); err == nil {
			return c.withData(out, kept)
		}
		return out
	default:
		return out
	}
	cleaned := cleanValue(data)
	return c.withData(out, cleaned)
}

// isMissingResource reports the data by whose exact shape clients know that what they asked for is not there.
func (c *Call) isMissingResource(data wire.Value) bool {
	asked, ok := c.request.Params().Path("uri").Str()
	return ok && data.Len() == 1 && data.Path("uri").Is(asked)
}

func (c *Call) withData(answer, data []byte) []byte {
	if out, err := splice.SetMember(nil, answer, []string{"error", "data"}, data); err == nil {
		return out
	}
	return answer
}

// made is an answer of the gateway's own.
func (c *Call) made(e *candor.Error) []byte {
	o := dialect.Options{ID: c.id, Response: true, Complete: c.newEra, Readable: true, Now: e.Time()}
	if tool := c.tools.tool(c.tool); tool != nil {
		o.NoOutputSchema = !tool.promises
	}
	if c.IsTool() && e.Code() != candor.CodeToolNotFound && c.id != nil {
		d := c.up.Options.Dialect
		if d.Carrier() == dialect.CarrierDocument {
			d = native
		}
		return d.Write(nil, e, o)
	}
	return rpc.Write(nil, e, o)
}

var rpc = dialect.Must("rpc")

// refuse settles an error of the gateway's own and returns the answer.
func (c *Call) refuse(ctx context.Context, e *candor.Error, v contract.Verdict) []byte {
	f := failure{err: c.stamp(e), verdict: v}
	shown := f.err
	if c.up.Options.Mode == ModeStrict { // the cause may be what the upstream said last
		shown = shown.With(candor.WithCauseText(candor.Cause{}))
	}
	out := c.made(shown)
	if audit := c.settle(ctx, f, out); audit != nil {
		return c.made(audit)
	}
	return out
}

// suppress settles a failure that nobody may be told of.
func (c *Call) suppress(ctx context.Context, e *candor.Error, v contract.Verdict) {
	_ = c.settle(ctx, failure{err: c.stamp(e), verdict: v, silent: true}, nil) // nobody is told: a refusal of the ledger is logged
}

// settle records a failure, then counts it. It returns nil, or the error to send instead if the ledger refused.
func (c *Call) settle(ctx context.Context, f failure, sent []byte) *candor.Error {
	var record func(context.Context) error
	if c.up.Options.Ledger != nil {
		record = func(ctx context.Context) error { return c.up.Options.Ledger.RecordFailure(ctx, c.recordOf(f, sent)) }
	}
	return c.edge().Settle(ctx, tail.Failure{
		Error: f.err, Verdict: string(f.verdict), Place: c.place(), Attempt: f.retried,
		Silent: f.silent || f.suspected, Suspect: f.suspected, Left: &c.unheard,
	}, record)
}

// recordOf returns the failure as the ledger records it.
func (c *Call) recordOf(f failure, sent []byte) candor.Failure {
	return candor.Failure{
		Error: f.err, Verdict: string(f.verdict), Method: c.method, Upstream: c.up.Options.Name, Arguments: c.arguments(),
		Received: c.up.recordable(f.said), Sent: sent, Attempt: c.attempt, Latency: c.up.Options.Now().Sub(c.began), Retried: f.retried, Suspected: f.suspected,
	}
}
