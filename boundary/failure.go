package boundary

import (
	"cmp"
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/audience"
	"github.com/candor-mcp/candor/internal/denial"
	"github.com/candor-mcp/candor/internal/record"
	"github.com/candor-mcp/candor/internal/redact"
)

// This file handles the failures of calls. toolCall.handle runs a tool and interprets its failure once: an error that has a code
// keeps it, a Go error is interpreted by Boundary.understand, a result by readResult, a JSON-RPC error by read. Then toolCall.fail,
// or guard.protocolError for any other method, applies these steps, which fill the fields of a candor.Failure:
//
//	refine   the error as Options.Refine returns it       Failure.Error
//	stamp    ref, time, tool and session                  Failure.Error
//	write    the result or the JSON-RPC error             Failure.Sent
//	record   the ledger entry, then the count             or the answer becomes AUDIT_LOG_FAILED
//
// The middleware returns the reply, and the layer around the SDK writes it; see [recorded].

// exchange describes the call that failed.
type exchange struct {
	method  string
	tool    string
	session string
	client  contract.Client
	params  []byte // as received; only a digest is kept
	refined bool   // Refine was called
}

// failure returns the failure of the call to record. Envelope is what will be sent, or nil if nothing is sent.
func (x *exchange) failure(e *candor.Error, v contract.Verdict, envelope []byte) *candor.Failure {
	return &candor.Failure{Error: e, Verdict: string(v), Method: x.method, Arguments: x.params, Sent: envelope, Client: x.client.Name,
		Redacted:  true, // an envelope has only the texts of an error
		Suspected: envelope == nil && v == contract.VerdictMasked}
}

// fail refines, stamps, writes and records the failure of a tool, and returns the result that reports it. From is the tool's result,
// or nil.
func (c toolCall) fail(ctx context.Context, e *candor.Error, from *mcp.CallToolResult) reply {
	x := c.exchange()
	e = c.g.b.refineCall(ctx, e, &x, c.keepsAdvice())
	m := emission{b: c.g.b, tool: c.tool, from: from, complete: c.newEra || isNewEra(metaOf(c.req)), to: x.client}
	if m.asRPC() {
		return c.g.protocolError(ctx, e, &x, rpcError{}, false)
	}
	m.write(e)
	if audit := c.g.b.record(ctx, x.failure(e, contract.VerdictTool, m.envelope)); audit != nil {
		e, m.from = audit, nil
		m.write(e)
	}
	return reply{result: m.result, failure: e, recorded: e.Ref()}
}

// protocolError refines, stamps, writes and records a failure, and returns it as a JSON-RPC error. Shown is the error that the author
// of the handler returned, or the zero value. If silent is set, the failure is only recorded.
func (g *guard) protocolError(ctx context.Context, e *candor.Error, x *exchange, shown rpcError, silent bool) reply {
	if shown.message == "" {
		shown = rpcError{code: int64(e.Code().Info().RPCNumber), message: e.Message()}
	}
	e, shown = g.b.refineShown(ctx, e, x, shown)
	e = g.b.stamp(e, x) // the span gets the same ref as the entry
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
	e, shown = b.refineShown(ctx, e, x, shown)
	e = b.stamp(e, x)
	shown.message = b.message(e, x, shown.message)
	envelope := candorDialect.Encode(make([]byte, 0, 1024), e, b.options())
	if audit := b.record(ctx, x.failure(e, v, envelope)); audit != nil {
		envelope = candorDialect.Encode(nil, audit, b.options())
		return rpcError{code: int64(audit.Code().Info().RPCNumber), message: b.message(audit, x, ""), data: b.data(audit, envelope)}
	}
	switch {
	case len(shown.data) == 0:
		shown.data = denial.AddTo(b.data(e, envelope), e.Code())
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

// refineShown calls refine. If that changes the code, the JSON-RPC error gets the number and the message of the new one.
func (b *Boundary) refineShown(ctx context.Context, e *candor.Error, x *exchange, shown rpcError) (*candor.Error, rpcError) {
	refined := b.refine(ctx, e, x)
	if refined.Code() != e.Code() {
		shown.code, shown.message = int64(refined.Code().Info().RPCNumber), refined.Message()
	}
	return refined, shown
}

// message returns the message of a JSON-RPC error, in which the author or the SDK said something or nothing. For tools/call it is the
// readable block, except in the rpc dialect.
func (b *Boundary) message(e *candor.Error, x *exchange, said string) string {
	if x.method == "tools/call" && b.o.Dialect.Name() != "rpc" {
		return audience.Message(string(dialect.AppendText(nil, e)), e.Message(), said)
	}
	return redact.FoldLines(cmp.Or(said, e.Message()))
}

// suppress records a failure to which the protocol does not allow a response.
func (b *Boundary) suppress(ctx context.Context, e *candor.Error, v contract.Verdict, x exchange) {
	e = b.stamp(b.refine(ctx, e, &x), &x)
	_ = b.record(ctx, x.failure(e, v, nil)) // nothing is sent; if the ledger refuses, that is logged
}

// refine calls Options.Refine once per call. From then on the session of the failure is the one that Refine sets, not that of the
// protocol.
func (b *Boundary) refine(ctx context.Context, e *candor.Error, x *exchange) *candor.Error {
	if b.o.Refine == nil || x.refined {
		return e
	}
	x.refined, x.session = true, ""
	if refined := b.o.Refine(ctx, e); refined != nil {
		return refined
	}
	return e
}

// stamp sets the ref, the time, and the tool and session of the call, which replace those of e. It adds a stack if stacks are
// enabled.
func (b *Boundary) stamp(e *candor.Error, x *exchange) *candor.Error {
	return b.recorder().Stamp(b.withStack(e), siteOf(x, e))
}

func (b *Boundary) recorder() record.Recorder {
	return record.Recorder{By: candor.PartyServer, Ledger: b.o.Ledger, Meter: b.o.Meter, Logger: b.o.Logger, Now: b.o.now, Ref: b.o.ref}
}

// siteOf returns the tool and session of a failed call. If the transport has no session, it uses the one that the server set in the
// error.
func siteOf(x *exchange, e *candor.Error) record.CallSite {
	tool := x.tool
	if e.Code() == candor.CodeToolNotFound { // the name of an unknown tool is a text of the client
		tool = redact.Text(tool)
	}
	return record.CallSite{Tool: tool, Session: cmp.Or(x.session, e.CallInfo().SessionID), Trusted: true}
}

// record writes the ledger entry of a failure, then counts the failure. If the ledger refuses, record returns the error to send
// instead, which reports only that the failure could not be recorded. Otherwise it returns nil.
func (b *Boundary) record(ctx context.Context, f *candor.Failure) *candor.Error {
	b.logStack(ctx, f.Error)
	f.Upstream = b.serverName()
	return b.recorder().Record(ctx, f)
}

// options returns the dialect options for one answer.
func (b *Boundary) options() dialect.Options {
	return dialect.Options{Stack: b.o.Stack, Sep3313: b.o.Sep3313, Readable: true, Mirror: b.o.Mirror}
}
