package gateway

import (
	"context"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/argerror"
	"github.com/candor-mcp/candor/internal/denial"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/internal/timestamp"
	"github.com/candor-mcp/candor/wire"
)

// withheld returns an error without the upstream's text. The message of its code replaces the text, which only the ledger keeps.
// Found holds details that the gateway itself added.
func (c *Call) withheld(e *candor.Error, found any) *candor.Error {
	shown := candor.New(e.Code(), "", candor.WithRetry(withheldRetry(e)), candor.WithOrigin(e.Origin().By, e.Origin().Inferred),
		candor.WithRef(e.Ref()), candor.WithTime(e.Time()), candor.WithTool(c.tool), candor.WithSession(c.session, "", ""), candor.WithDetails(found))
	if c.IsTool() && e.Code() == candor.CodeToolNotFound {
		return argerror.UnknownTool(c.tool, c.listedNames(), e.Origin().By).With(candor.WithOrigin(e.Origin().By, e.Origin().Inferred),
			candor.WithRef(e.Ref()), candor.WithTime(e.Time()), candor.WithSession(c.session, "", ""))
	}
	suggestion := ""
	if asksForCheck(e) {
		if wait := saidDelay(e); wait > 0 {
			shown = shown.With(candor.WithDetails(shown.Details().With("said", map[string]any{"retry": candor.RetryAfterMs, "retryAfterMs": wait.Milliseconds()})))
		}
		shown = contract.AvoidSecondEffect(shown.With(candor.WithSuggestion(contract.CheckEffect)))
		suggestion = shown.Suggestion()
	}
	if e.Code() != candor.CodeUnknownToolFailure {
		return shown
	}
	// The message of this code says that the tool gave no text, and its suggestion is to read the text. Neither applies here.
	return shown.With(candor.WithMessage("The tool reported a failure, and its own words are withheld."),
		candor.WithSuggestion(strings.TrimSpace(suggestion+" Report it with the reference, under which the operator finds the tool's own words.")))
}

// withheldRetry returns the retry advice for an error without its text. An upstream may set a delay or advise against a
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
	shown := c.withheld(e, c.mismatches.own())
	out := withReadable(rpc.Write(nil, shown, dialect.Options{ID: c.id, Response: true, Now: e.Time()}), shown)
	number := m.Error().Path("code")
	out, err := splice.SetMember(nil, out, []string{"error", "code"}, number.Raw())
	if err != nil {
		return c.made(shown)
	}
	data := m.Error().Path("data")
	switch n, _ := number.Int64(); {
	case c.isMissingResource(data):
		return WithMember(out, cleanValue(data), "error", "data")
	case data.Type() == wire.TypeObject && (n == -32042 || n <= -32020 && n >= -32022):
		if kept, err := splice.SetMember(nil, cleanValue(data), []string{dialect.MetaKey}, shown.AppendJSON(nil, candor.JSONOptions{})); err == nil {
			return WithMember(out, kept, "error", "data")
		}
	}
	return out
}

// isMissingResource reports whether data has the exact shape by which clients recognise a missing resource.
func (c *Call) isMissingResource(data wire.Value) bool {
	asked, ok := c.request.Params().Path("uri").Str()
	return ok && data.Len() == 1 && data.Path("uri").Is(asked)
}

// WithMember returns a message with the member at that path set to value, or the message itself if that is not possible.
func WithMember(message, value []byte, path ...string) []byte {
	if out, err := splice.SetMember(nil, message, path, value); err == nil {
		return out
	}
	return message
}

// made returns the answer that the gateway writes for an error.
func (c *Call) made(e *candor.Error) []byte {
	to := c.client()
	o := dialect.Options{ID: c.id, Response: true, Complete: c.newEra, Readable: true, Now: e.Time(), Mirror: c.up.Options.Mirror, Brief: to.Meta}
	o.Lean = c.up.Options.Dialect.Name() == native.Name()
	if tool := c.tools.tool(c.tool); tool != nil {
		o.NoOutputSchema = !tool.promises
	}
	if c.IsTool() && e.Code() != candor.CodeToolNotFound && c.id != nil {
		d := c.up.Options.Dialect
		if d.Name() == "problem" {
			d = native
		}
		return d.Write(nil, e, o)
	}
	o.Brief = to.Error == "data"
	return denial.AddTo(withReadable(rpc.Write(nil, e, o), e), e.Code(), "error", "data")
}

// withReadable returns a JSON-RPC error that answers tools/call with the readable block as its message, because many clients show their
// model only the message.
func withReadable(answer []byte, e *candor.Error) []byte {
	if e.CallInfo().Tool == "" {
		return answer
	}
	return WithMember(answer, jsontext.AppendString(nil, dialect.AppendText(nil, e)), "error", "message")
}

var rpc = dialect.Must("rpc")

// refuse records an error that the gateway found and returns the answer.
func (c *Call) refuse(ctx context.Context, e *candor.Error, v contract.Verdict) []byte {
	f := c.fails(e, v)
	shown := f.Error
	if c.up.Options.Mode == ModeStrict { // the cause may quote the upstream's output
		shown = shown.With(candor.WithCauseText(candor.Cause{}))
	}
	f.Sent = c.made(shown)
	return c.recorded(ctx, &f)
}

// suppress records a failure that must not be answered.
func (c *Call) suppress(ctx context.Context, e *candor.Error, v contract.Verdict) {
	f := c.fails(e, v)
	_ = c.record(ctx, &f) // nothing is sent; a ledger error is logged
}

// upstreamMember is the member of details that holds the origin, ref and time from an upstream's envelope.
const upstreamMember = "upstream"

// attribute assigns an error that was read from an upstream's answer to that upstream. Another gateway counts as the
// server. A transport or a client in an answer is one that the tool used, so the tool had begun. Ref and time become
// the gateway's, because its entry is found by them. The original values are kept in details.upstream, so that a
// failure can be traced through several gateways; values kept there by an earlier gateway are nested.
func attribute(e *candor.Error, x *contract.Exchange) *candor.Error {
	if e == nil {
		return nil
	}
	by, at := e.Origin().By, e.Time()
	otherParty := by != candor.PartyTool && by != candor.PartyServer
	otherRef := e.Ref() != "" && e.Ref() != x.Ref
	otherTime := !at.IsZero() && !at.Equal(x.At.Truncate(time.Millisecond))
	if !otherParty && !otherRef && !otherTime {
		return e
	}
	theirs := map[string]any{}
	if otherParty {
		theirs["by"] = string(by)
		if by = candor.PartyTool; e.Origin().By == candor.PartyGateway {
			by = candor.PartyServer
		}
	}
	if otherRef {
		theirs["ref"] = e.Ref()
	}
	if otherTime {
		theirs["timestamp"] = at.Format(timestamp.Layout)
	}
	if before := e.Details().Get(upstreamMember); !before.IsZero() {
		theirs[upstreamMember] = before
	}
	return e.With(candor.WithOrigin(by, e.Origin().Inferred), candor.WithRef(x.Ref), candor.WithTime(x.At),
		candor.WithDetails(e.Details().With(upstreamMember, theirs)))
}
