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

// This file handles the failures of calls. toolCall.handle runs a tool and interprets its failure once: an error that has a code
// keeps it, a Go error is interpreted by Boundary.understand, a result by readResult, a JSON-RPC error by read. Then toolCall.fail,
// or guard.protocolError for any other method, applies these steps, which fill the fields of a failure:
//
//	refine   the error as Options.Refine returns it       failure.err
//	stamp    ref, time, tool and session                  failure.err
//	write    the result or the JSON-RPC error             failure.envelope
//	record   the ledger entry, then the count             or the answer becomes AUDIT_LOG_FAILED
//
// The middleware returns the reply, and the layer around the SDK writes it; see [recorded].

// exchange describes the call that failed.
type exchange struct {
	method  string
	tool    string
	session string
	params  []byte // as received; only a digest is kept
	silent  bool   // the protocol forbids an answer: a notification, or a call that was cancelled
	refined bool   // Refine was called
}

// failure is a failed call that is about to be recorded.
type failure struct {
	call     exchange
	verdict  contract.Verdict
	err      *candor.Error
	envelope []byte // as it will be sent; nil if nothing is sent
}

// fail refines, stamps, writes and records the failure of a tool, and returns the result that reports it. From is the tool's result,
// or nil.
func (c toolCall) fail(ctx context.Context, e *candor.Error, from *mcp.CallToolResult) reply {
	x := c.exchange()
	e = c.g.b.refineCall(ctx, e, &x, c.keepsAdvice())
	c.declared(e)
	e = c.g.b.stamp(e, &x)
	m := emission{b: c.g.b, tool: c.tool, from: from, complete: isNewEra(c.req.Params.Meta)}
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

// protocolError refines, stamps, writes and records a failure, and returns it as a JSON-RPC error. Shown is the error that the author
// of the handler returned, or the zero value. If silent is set, the failure is only recorded.
func (g *guard) protocolError(ctx context.Context, e *candor.Error, x *exchange, shown rpcError, silent bool) reply {
	if shown.message == "" {
		shown = rpcError{code: int64(e.Code().RPCNumber()), message: e.Message()}
	}
	e = g.b.stamp(g.b.refine(ctx, e, x), x) // the span gets the same ref as the entry
	if silent {
		g.b.suppress(ctx, e, contract.VerdictProtocol, *x)
		return reply{failure: e}
	}
	shown = g.b.express(ctx, e, contract.VerdictProtocol, x, shown)
	return reply{err: shown.wire(), failure: e, recorded: shown.key()}
}

// express refines, stamps, writes and records a failure, and returns it as a JSON-RPC error with the number and the message of shown,
// and with the envelope added to the data of shown.
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

// suppress records a failure to which the protocol does not allow a response.
func (b *Boundary) suppress(ctx context.Context, e *candor.Error, v contract.Verdict, x exchange) {
	x.silent = true
	e = b.stamp(b.refine(ctx, e, &x), &x)
	_ = b.record(ctx, failure{call: x, verdict: v, err: e}) // nothing is sent; if the ledger refuses, that is logged
}

// refine calls Options.Refine once per call. From then on the session of the failure is the one that Refine sets, not that of the
// protocol.
func (b *Boundary) refine(ctx context.Context, e *candor.Error, x *exchange) (refined *candor.Error) {
	if b.o.Refine == nil || x.refined {
		return e
	}
	x.refined, x.session = true, ""
	defer func() {
		if thrown := recover(); thrown != nil {
			b.o.Logger.ErrorContext(ctx, "Refine panicked; the failure is sent without its changes", slog.String("code", e.Code().String()))
			refined = e
		}
	}()
	if refined = b.o.Refine(ctx, e); refined == nil {
		return e
	}
	return refined
}

// stamp sets the ref, the time, and the tool and session of the call, which replace those of e. It adds a stack if stacks are
// enabled.
func (b *Boundary) stamp(e *candor.Error, x *exchange) *candor.Error {
	return b.recorder().Stamp(b.withStack(e), siteOf(x, e))
}

func (b *Boundary) recorder() record.Recorder {
	return record.Recorder{By: candor.PartyServer, Meter: recoveringMeter{b}, Logger: b.o.Logger, Now: b.o.now, Ref: b.o.ref}
}

// siteOf returns the tool and session of a failed call. If the transport has no session, it uses the one that the server set in the
// error.
func siteOf(x *exchange, e *candor.Error) record.CallSite {
	return record.CallSite{Tool: x.tool, Session: cmp.Or(x.session, e.CallInfo().SessionID), Trusted: true}
}

// record writes the ledger entry of a failure, then counts the failure. If the ledger refuses, record returns the error to send
// instead, which reports only that the failure could not be recorded. Otherwise it returns nil.
func (b *Boundary) record(ctx context.Context, f failure) *candor.Error {
	b.logStack(ctx, f.err)
	if b.o.Ledger == nil {
		return b.recorder().Record(ctx, f.outcome(), nil)
	}
	return b.recordEntry(ctx, f)
}

// recordEntry is record with a ledger. It is a separate function because its closure moves f to the heap.
func (b *Boundary) recordEntry(ctx context.Context, f failure) *candor.Error {
	return b.recorder().Record(ctx, f.outcome(), func(ctx context.Context) error { return b.writeEntry(ctx, &f) })
}

// outcome returns the failure in the form that the recorder counts.
func (f *failure) outcome() record.Failure {
	return record.Failure{Error: f.err, Verdict: string(f.verdict), Site: siteOf(&f.call, f.err), Silent: f.call.silent,
		Suspected: f.call.silent && f.verdict == contract.VerdictMasked}
}

// writeEntry calls the ledger. It returns an error if the ledger panics.
func (b *Boundary) writeEntry(ctx context.Context, f *failure) (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = fmt.Errorf("the ledger panicked: %v", thrown)
		}
	}()
	return b.o.Ledger.RecordFailure(ctx, candor.Failure{Error: f.err, Verdict: string(f.verdict), Method: f.call.method,
		Arguments: f.call.params, Sent: f.envelope, Suspected: f.envelope == nil && f.verdict == contract.VerdictMasked})
}

// options returns the dialect options for one answer.
func (b *Boundary) options() dialect.Options {
	return dialect.Options{Stack: b.o.Stack, Sep3313: b.o.Sep3313, Readable: true, Mirror: b.o.Mirror}
}
