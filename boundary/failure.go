package boundary

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/record"
)

// This file is the path of a failure through the boundary. toolCall.handle runs a tool, and what came back is read once: an error that says
// what it is keeps that, a Go error goes through Boundary.understand, a result through readResult, a JSON-RPC error through read. Then
// toolCall.fail, or guard.protocolError for any other method, takes the error through the steps, each of which fills one field of a failure:
//
//	refine   the server's own last word on it             failure.err
//	stamp    ref, time, tool and session                  failure.err
//	write    the result or the JSON-RPC error             failure.envelope
//	record   the ledger's entry, then the count           or the answer becomes AUDIT_LOG_FAILED
//
// The middleware returns the reply, and the layer around the SDK writes it; see [recorded].

// exchange is what is known of the call that failed.
type exchange struct {
	method  string
	tool    string
	session string
	params  []byte // as received; only digested, never kept
	silent  bool   // the protocol forbids an answer: a notification, or a call that was cancelled
	refined bool   // the server has had its say
}

// failure is a failed call on its way to the client.
type failure struct {
	call     exchange
	verdict  contract.Verdict
	err      *candor.Error
	envelope []byte // as it will be sent, nil if nothing is
}

// fail takes the failure of a tool through the steps and returns the result that tells of it. From is the result that the tool made, nil if
// there is none.
func (c toolCall) fail(ctx context.Context, e *candor.Error, from *mcp.CallToolResult) reply {
	x := c.exchange()
	e = c.g.b.refineCall(ctx, e, &x, c.keepsAdvice())
	c.declared(e)
	e = c.g.b.stamp(e, &x)
	m := emission{b: c.g.b, tool: c.tool, from: from, complete: isNewEra(c.req)}
	if m.asRPC() {
		if !c.claim.take() {
			return reply{}
		}
		return c.g.protocolError(ctx, e, &x, rpcError{}, false)
	}
	m.write(e)
	if !c.claim.take() {
		return reply{}
	}
	if audit := c.g.b.record(ctx, failure{call: x, verdict: contract.VerdictTool, err: e, envelope: m.envelope}); audit != nil {
		e, m.from = audit, nil
		m.write(e)
	}
	return reply{result: m.result, failure: e, recorded: e.Ref()}
}

// protocolError takes a failure through the steps and returns it as a JSON-RPC error. Shown is what the author of the handler wrote, or
// zero.
func (g *guard) protocolError(ctx context.Context, e *candor.Error, x *exchange, shown rpcError, silent bool) reply {
	if silent {
		g.b.suppress(ctx, e, contract.VerdictProtocol, *x)
		return reply{failure: e}
	}
	if shown.message == "" {
		shown = rpcError{code: int64(e.Code().RPCNumber()), message: e.Message()}
	}
	shown = g.b.express(ctx, e, contract.VerdictProtocol, x, shown)
	return reply{err: shown.wire(), failure: e, recorded: shown.key()}
}

// express takes a failure through the steps and returns it as a JSON-RPC error: the number and the message of shown, its data with the
// envelope added.
func (b *Boundary) express(ctx context.Context, e *candor.Error, v contract.Verdict, x *exchange, shown rpcError) rpcError {
	e = b.stamp(b.refine(ctx, e, x), x)
	envelope := candorDialect.Encode(make([]byte, 0, 1024), e, b.options())
	if audit := b.record(ctx, failure{call: *x, verdict: v, err: e, envelope: envelope}); audit != nil {
		envelope = candorDialect.Encode(nil, audit, b.options())
		return rpcError{code: int64(audit.Code().RPCNumber()), message: audit.Message(), data: b.data(audit, envelope)}
	}
	switch {
	case len(shown.data) == 0:
		shown.data = b.data(e, envelope)
	case isResourceURI(shown.data):
		shown.data = redactedURI(shown.data)
	default:
		shown.data = redactedJSON(shown.data)
		if data, ok := withEnvelope(shown.data, envelope); ok {
			shown.data = data
		}
	}
	return shown
}

// suppress records a failure that the protocol forbids to answer.
func (b *Boundary) suppress(ctx context.Context, e *candor.Error, v contract.Verdict, x exchange) {
	x.silent = true
	e = b.stamp(b.refine(ctx, e, &x), &x)
	_ = b.record(ctx, failure{call: x, verdict: v, err: e}) // nothing is sent: a refusal of the ledger is logged
}

// refine lets the server say a failure in its own words. From then on it is the server, and not the protocol, that says which session this
// is.
func (b *Boundary) refine(ctx context.Context, e *candor.Error, x *exchange) (refined *candor.Error) {
	if b.o.Refine == nil || x.refined {
		return e
	}
	x.refined, x.session = true, ""
	defer func() {
		if thrown := recover(); thrown != nil {
			b.o.Logger.ErrorContext(ctx, "Refine panicked, and the failure leaves as it was", slog.String("code", e.Code().String()))
			refined = e
		}
	}()
	if refined = b.o.Refine(ctx, e); refined == nil {
		return e
	}
	return refined
}

// stamp gives an error a ref, the time, the tool and session of its call, whatever it says of those itself, and a stack if those are
// asked for.
func (b *Boundary) stamp(e *candor.Error, x *exchange) *candor.Error {
	return b.recorder().Stamp(b.withStack(e), siteOf(x, e))
}

func (b *Boundary) recorder() record.Recorder {
	return record.Recorder{By: candor.PartyServer, Meter: calmMeter{b}, Logger: b.o.Logger, Now: b.o.now, Ref: b.o.ref}
}

// siteOf returns where a call failed. A server may have sessions of its own where the transport has none.
func siteOf(x *exchange, e *candor.Error) record.CallSite {
	return record.CallSite{Tool: x.tool, Session: cmp.Or(x.session, e.CallInfo().SessionID), Trusted: true}
}

// record writes the entry of a failure, then counts it. It returns nil, or the error to send instead if the ledger refused: then nothing
// may be claimed about the failure but that it could not be recorded.
func (b *Boundary) record(ctx context.Context, f failure) *candor.Error {
	b.logStack(ctx, f.err)
	if b.o.Ledger == nil {
		return b.recorder().Record(ctx, f.outcome(), nil)
	}
	return b.recordEntry(ctx, f)
}

// recordEntry is record with a ledger. It is a function of its own because its closure takes f to the heap.
func (b *Boundary) recordEntry(ctx context.Context, f failure) *candor.Error {
	return b.recorder().Record(ctx, f.outcome(), func(ctx context.Context) error { return b.writeEntry(ctx, &f) })
}

// outcome is the failure as the recorder counts it.
func (f *failure) outcome() record.Failure {
	return record.Failure{Error: f.err, Verdict: string(f.verdict), Site: siteOf(&f.call, f.err), Silent: f.call.silent,
		Suspected: f.call.silent && f.verdict == contract.VerdictMasked}
}

// writeEntry calls the ledger. One that panics has refused.
func (b *Boundary) writeEntry(ctx context.Context, f *failure) (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = fmt.Errorf("the ledger panicked: %v", thrown)
		}
	}()
	return b.o.Ledger.RecordFailure(ctx, candor.Failure{Error: f.err, Verdict: string(f.verdict), Method: f.call.method,
		Arguments: f.call.params, Sent: f.envelope, Suspected: f.envelope == nil && f.verdict == contract.VerdictMasked})
}

// options returns those of the dialects for one answer.
func (b *Boundary) options() dialect.Options {
	return dialect.Options{Stack: b.o.Stack, Sep3313: b.o.Sep3313, Readable: true, Mirror: b.o.Mirror}
}
