package boundary

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
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

// stamp gives an error what only the edge knows: a ref, the time and the place. What the author said stays.
func (b *Boundary) stamp(e *candor.Error, x *exchange) *candor.Error {
	var options [4]candor.Option
	n := 0
	set := func(o candor.Option) { options[n] = o; n++ }
	if e.Ref() == "" {
		set(candor.WithRef(b.o.ref()))
	}
	if e.Time().IsZero() {
		set(candor.WithTime(b.o.now()))
	}
	at := e.Context()
	if at.Tool == "" && x.tool != "" {
		set(candor.WithTool(x.tool))
	}
	if at.SessionID == "" && x.session != "" {
		set(candor.WithSession(x.session, at.Role, at.WorkspaceRoot))
	}
	return e.With(options[:n]...)
}

// settle records a failure, then counts it. The envelope is what will be sent. It returns nil, or, if the ledger refused,
// the error to send instead: then nothing about the failure may be claimed but that it could not be recorded.
func (b *Boundary) settle(ctx context.Context, e *candor.Error, v contract.Verdict, x *exchange, envelope []byte) *candor.Error {
	if b.o.Ledger != nil {
		if err := b.record(ctx, e, v, x, envelope); err != nil {
			return b.unrecorded(ctx, e, x, err)
		}
	}
	if b.o.Meter != nil {
		b.o.Meter.Count(e, string(v))
		if x.silent {
			b.o.Meter.CountSuppressed()
		}
	}
	return nil
}

// record asks the ledger. One that panics has refused.
func (b *Boundary) record(ctx context.Context, e *candor.Error, v contract.Verdict, x *exchange, envelope []byte) (err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = fmt.Errorf("the ledger panicked: %v", thrown)
		}
	}()
	// The caller may be gone, and the failure is recorded all the same.
	return b.o.Ledger.RecordFailure(context.WithoutCancel(ctx), e, string(v), x.method, x.params, envelope)
}

// unrecorded returns the only error that may leave without an entry. It keeps the ref, for the logs, and the code.
func (b *Boundary) unrecorded(ctx context.Context, e *candor.Error, x *exchange, err error) *candor.Error {
	refused, ok := errors.AsType[*candor.Error](err)
	if !ok || !isAudit(refused.Code()) {
		refused = candor.New(candor.CodeKaizaAuditLogFailed, "", candor.WithCause(err))
	}
	refused = b.stamp(refused.With(
		candor.WithMessage("The call failed, and that could not be written to the trail."),
		candor.WithRetry(candor.NoRetry()), // the code's own advice is for what was refused before it was begun
		candor.WithSuggestion("Find out what the call has changed before you make it again, and tell the operator."),
		candor.WithRef(e.Ref()), candor.WithOrigin(candor.PartyServer, false),
		candor.WithDetails(map[string]any{"code": e.Code().String()})), x)
	if b.o.Meter != nil {
		b.o.Meter.CountUnrecorded(refused)
	}
	b.o.Logger.ErrorContext(ctx, "a failure could not be recorded",
		slog.String("ref", e.Ref()), slog.String("code", e.Code().String()), slog.Any("error", refused)) // not err: its text may hold anything
	return refused
}

func isAudit(c candor.Code) bool {
	return c == candor.CodeKaizaAuditLogFailed || c == candor.CodeKaizaAuditLockFailed
}

// suppress settles a failure that the protocol forbids to answer.
func (b *Boundary) suppress(ctx context.Context, e *candor.Error, v contract.Verdict, x exchange) {
	x.silent = true
	_ = b.settle(ctx, b.stamp(b.refine(ctx, e, &x), &x), v, &x, nil) // nobody is to be told, not even that it could not be recorded
}

// options are those of the dialects for one answer.
func (b *Boundary) options() dialect.Options {
	return dialect.Options{Stack: b.o.Stack, Sep3313: b.o.Sep3313, Readable: true}
}
