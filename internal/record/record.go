// Package record ends a failing call, for the boundary inside a server and for the gateway in front of one: the failure is recorded, then
// counted, and only then sent.
//
// A failure that cannot be recorded is not sent. The error that is sent instead says so and no more: the call has been made, so it must
// claim neither that nothing was done nor that the same call may be made again.
//
// The package knows no ledger and no meter, only the functions it needs of them. It recovers from no panic: a ledger that may panic is
// for the caller to guard.
package record

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor"
)

// Recorder records and counts failures. It holds no state, so it may be made for each failure, and copied.
type Recorder struct {
	By     candor.Party     // the party that says that a failure could not be recorded
	Meter  candor.Meter     // nil counts nothing
	Logger *slog.Logger     // for failures that could not be recorded; required, like what follows
	Now    func() time.Time // the time of an error that has none
	Ref    func() string    // the ref of an error that has none
}

// SuspectMeter is a [candor.Meter] that counts suspected failures apart. They are counted as suppressed, too.
type SuspectMeter interface{ CountSuspected() }

// CallSite is the tool and the session of a call.
type CallSite struct {
	Tool    string
	Session string
	// Trusted corrects an error that names another site. Without it the error keeps what its author said.
	Trusted bool
}

// Failure is a failed call before it is answered.
type Failure struct {
	Error      *candor.Error // stamped
	Verdict    string
	Site       CallSite
	Attempt    bool         // another attempt follows: it is recorded, and only the last is counted
	Silent     bool         // nothing may be answered
	Suspected  bool         // it looks like a failure, and was passed on as it is
	ClientGone *atomic.Bool // set when the client goes away, also while the failure is recorded; nil if that cannot be known
}

// Stamp gives an error a ref and a time if it has none, and its call site.
func (r Recorder) Stamp(e *candor.Error, site CallSite) *candor.Error {
	var options [4]candor.Option // no slice that grows: every failure passes here
	n := 0
	set := func(o candor.Option) { options[n] = o; n++ }
	if e.Ref() == "" {
		set(candor.WithRef(r.Ref()))
	}
	if e.Time().IsZero() {
		set(candor.WithTime(r.Now()))
	}
	at := e.CallInfo()
	if site.corrects(at.Tool, site.Tool) {
		set(candor.WithTool(site.Tool))
	}
	if site.corrects(at.SessionID, site.Session) {
		set(candor.WithSession(site.Session, at.Role, at.WorkspaceRoot))
	}
	return e.With(options[:n]...)
}

// corrects reports that what is known must replace what the error says.
func (s CallSite) corrects(said, known string) bool {
	return said != known && (s.Trusted || said == "")
}

// Record writes the entry of a failure, then counts it. It returns nil if the failure may be sent, and otherwise the error to send in its
// place, which has been counted and logged. Write is not cancelled with ctx, because the failure is recorded even if the client has
// gone; nil stands for no ledger.
func (r Recorder) Record(ctx context.Context, f Failure, write func(context.Context) error) *candor.Error {
	if write != nil {
		if err := write(context.WithoutCancel(ctx)); err != nil {
			return r.unrecorded(ctx, f, err)
		}
	}
	if r.Meter == nil || f.Attempt {
		return nil
	}
	r.Meter.Count(f.Error, f.Verdict)
	if f.Silent || f.ClientGone != nil && f.ClientGone.Load() {
		r.Meter.CountSuppressed()
	}
	if suspects, ok := r.Meter.(SuspectMeter); ok && f.Suspected {
		suspects.CountSuspected()
	}
	return nil
}

// unrecorded returns the only error that may leave without an entry. It keeps the ref, for the logs, and the code.
func (r Recorder) unrecorded(ctx context.Context, f Failure, err error) *candor.Error {
	ref, code := f.Error.Ref(), f.Error.Code().String()
	if IsAudit(f.Error.Code()) && f.Error.Origin().By == r.By { // the caller has said so itself, and knows what was done
		r.report(ctx, f.Error, code)
		return f.Error
	}
	refused, ok := errors.AsType[*candor.Error](err)
	if !ok || !IsAudit(refused.Code()) {
		refused = candor.New(candor.CodeLedgerFailed, "", candor.WithCause(err))
	}
	message, suggestion := "The call failed, and that could not be written to the trail.",
		"Find out what the call has changed before you make it again, and tell the operator."
	details := map[string]any{"code": code}
	if refused.Details().Get("effect").String() == `"`+EffectNone+`"` { // the owner of the ledger knows
		details["effect"] = EffectNone
		message = "The call failed and changed nothing, and that could not be written to the trail."
		suggestion = "Tell the operator, with the reference; no call is served until the trail can be written."
	}
	refused = r.Stamp(refused.With(
		candor.WithMessage(message),
		candor.WithRetry(candor.NoRetry()), // the code's own advice is for what was refused before it was begun
		candor.WithSuggestion(suggestion),
		candor.WithRef(ref), candor.WithOrigin(r.By, false), candor.WithCallInfo(f.Error.CallInfo()),
		candor.WithDetails(details)), f.Site)
	r.report(ctx, refused, code)
	return refused
}

// EffectNone is details.effect of a ledger's refusal where it is known that the failed call changed nothing.
const EffectNone = "none"

// report counts and logs a failure that has no entry. The ledger's own error is not logged: its text may hold anything.
func (r Recorder) report(ctx context.Context, refused *candor.Error, code string) {
	if r.Meter != nil {
		r.Meter.CountUnrecorded(refused)
	}
	r.Logger.ErrorContext(ctx, "a failure could not be recorded",
		slog.String("ref", refused.Ref()), slog.String("code", code), slog.Any("error", refused))
}

// IsAudit reports a code by which a ledger says that it could not record.
func IsAudit(c candor.Code) bool {
	return c == candor.CodeLedgerFailed || c == candor.CodeLedgerLocked
}
