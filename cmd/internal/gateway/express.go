package gateway

import (
	"context"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/internal/teach"
	"github.com/candor-mcp/candor/wire"
)

// withheld returns an error without the upstream's text. The message of its code replaces the text, which only the ledger keeps.
// Found holds details that the gateway itself added.
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
	// The message of this code says that the tool gave no text, and its suggestion is to read the text. Neither applies here.
	return shown.With(candor.WithMessage("The tool reported a failure, and its own words are withheld."),
		candor.WithSuggestion(strings.TrimSpace(suggestion+" Report it with the reference, under which the operator finds the tool's own words.")))
}

// withheldRetry returns the retry advice for an error whose text is withheld. An upstream may set a delay or advise against a
// retry; it may not advise a retry that contradicts the message of the code.
func withheldRetry(e *candor.Error) candor.Retry {
	if own := e.Code().Retry(); e.Retry().Retryable() && !own.Retryable() {
		return own
	}
	return e.Retry()
}

// withheldError returns a JSON-RPC error without the upstream's text. Its number is kept, and so is its data if the protocol
// defines the data and clients need it.
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

// isMissingResource reports whether data has the exact shape by which clients recognise a missing resource.
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

// made returns the answer that the gateway writes for an error.
func (c *Call) made(e *candor.Error) []byte {
	o := dialect.Options{ID: c.id, Response: true, Complete: c.newEra, Readable: true, Now: e.Time(), Mirror: c.up.Options.Mirror}
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

// refuse records an error that the gateway found and returns the answer.
func (c *Call) refuse(ctx context.Context, e *candor.Error, v contract.Verdict) []byte {
	f := failure{err: c.stamp(e), verdict: v}
	shown := f.err
	if c.up.Options.Mode == ModeStrict { // the cause may quote the upstream's output
		shown = shown.With(candor.WithCauseText(candor.Cause{}))
	}
	f.sent = c.made(shown)
	return c.recorded(ctx, &f)
}

// suppress records a failure that must not be answered.
func (c *Call) suppress(ctx context.Context, e *candor.Error, v contract.Verdict) {
	_ = c.record(ctx, &failure{err: c.stamp(e), verdict: v, silent: true}) // nothing is sent; a ledger error is logged
}
