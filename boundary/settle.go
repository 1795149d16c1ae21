package boundary

import (
	"cmp"
	"context"
	"fmt"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/tail"
)

// exchange is what is known of the call that failed.
type exchange struct {
	method  string
	tool    string
	session string
	params  []byte // as received; only digested, never kept
	silent  bool   // the protocol forbids an answer: a notification, or a call that was cancelled
	refined bool   // the server has had its say
}

// edge is the boundary as the place where failures leave.
func (b *Boundary) edge() tail.Edge {
	return tail.Edge{By: candor.PartyServer, Meter: calmMeter{b}, Logger: b.o.Logger, Now: b.o.now, Ref: b.o.ref}
}

// placeOf returns where a call failed. A server may have sessions of its own where the transport has none.
func placeOf(x *exchange, e *candor.Error) tail.Place {
	return tail.Place{Tool: x.tool, Session: cmp.Or(x.session, e.CallInfo().SessionID), Sure: true}
}

// stamp gives an error what only the edge knows: a ref, the time and the place, and a stack if those are asked for. The
// tool is the one that was called, whatever the error says.
func (b *Boundary) stamp(e *candor.Error, x *exchange) *candor.Error {
	return b.edge().Stamp(b.withStack(e), placeOf(x, e))
}

// settle records a failure, then counts it. The envelope is what will be sent. It returns nil, or, if the ledger refused,
// the error to send instead: then nothing about the failure may be claimed but that it could not be recorded.
func (b *Boundary) settle(ctx context.Context, e *candor.Error, v contract.Verdict, x *exchange, envelope []byte) *candor.Error {
	b.logStack(ctx, e)
	var record func(context.Context) error
	if b.o.Ledger != nil {
		record = func(ctx context.Context) error { return b.record(ctx, e, v, x, envelope) }
	}
	return b.edge().Settle(ctx, tail.Failure{Error: e, Verdict: string(v), Place: placeOf(x, e), Silent: x.silent,
		Suspect: x.silent && v == contract.VerdictMasked}, record)
}

// record asks the ledger. One that panics has refused.
func (b *Boundary) record(ctx context.Context, e *candor.Error, v contract.Verdict, x *exchange, envelope []byte) (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = fmt.Errorf("the ledger panicked: %v", thrown)
		}
	}()
	return b.o.Ledger.RecordFailure(ctx, candor.Failure{Error: e, Verdict: string(v), Method: x.method, Arguments: x.params, Sent: envelope,
		Suspected: envelope == nil && v == contract.VerdictMasked})
}

// suppress settles a failure that the protocol forbids to answer.
func (b *Boundary) suppress(ctx context.Context, e *candor.Error, v contract.Verdict, x exchange) {
	x.silent = true
	_ = b.settle(ctx, b.stamp(b.refine(ctx, e, &x), &x), v, &x, nil) // nobody is to be told, not even that it could not be recorded
}

// options are those of the dialects for one answer.
func (b *Boundary) options() dialect.Options {
	return dialect.Options{Stack: b.o.Stack, Sep3313: b.o.Sep3313, Readable: true, Mirror: b.o.Mirror}
}
