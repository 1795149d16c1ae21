// Package record records and counts the failure of a call before it is sent, for the boundary inside a server and for
// the gateway in front of one.
//
// A failure that cannot be recorded is not sent. The error that is sent instead reports only that: the call was made,
// so the error must not claim that it had no effect or that it may be repeated.
package record

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// Recorder records and counts failures. It is stateless, so it may be copied, or created for each failure.
type Recorder struct {
	By     candor.Party     // the party that reports that a failure could not be recorded
	Ledger candor.Ledger    // may be nil
	Meter  candor.Meter     // may be nil
	Gone   *atomic.Bool     // set when the client disconnects, also while the failure is recorded; nil if that is unknown
	Logger *slog.Logger     // for failures that could not be recorded; required, like the fields below
	Now    func() time.Time // returns the time for an error without one
	Ref    func() string    // returns the ref for an error without one
}

// SuspectMeter is a [candor.Meter] that counts suspected failures separately. They are also counted as suppressed.
type SuspectMeter interface{ CountSuspected() }

// ServerMeter is a [candor.Meter] that also counts failures by the server they are from, and by outcome.
type ServerMeter interface{ CountServer(name, outcome string) }

// CallSite is the tool and the session of a call.
type CallSite struct {
	Tool    string
	Session string
	// Trusted reports that Tool and Session replace those of an error. Otherwise they only fill empty fields of the error.
	Trusted bool
}

// OutcomeSuspected is the outcome of an answer that only looks like a failure and was sent unchanged.
const OutcomeSuspected = "suspected"

// Outcome returns the verdict of a failure, or [OutcomeSuspected].
func Outcome(f *candor.Failure) string {
	if f.Suspected {
		return OutcomeSuspected
	}
	return f.Verdict
}

// Stamp sets the call site, and a ref and a time where they are missing.
func (r Recorder) Stamp(e *candor.Error, site CallSite) *candor.Error {
	var options [4]candor.Option // fixed size to avoid an allocation per failure
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
	if n == 0 {
		return e
	}
	return e.With(options[:n]...)
}

// corrects reports whether known must replace the value in the error.
func (s CallSite) corrects(said, known string) bool {
	return said != known && (s.Trusted || said == "")
}

// Record writes the entry of a failure that was stamped, then counts it. It returns nil if the failure may be sent.
// Otherwise it returns the error to send instead, which was counted and logged. The context of the ledger is not
// cancelled with ctx, because the failure is recorded even if the client has disconnected.
func (r Recorder) Record(ctx context.Context, f *candor.Failure) *candor.Error {
	if r.Ledger != nil {
		if err := r.Ledger.RecordFailure(context.WithoutCancel(ctx), *f); err != nil {
			return r.unrecorded(ctx, f.Error, err)
		}
	}
	if r.Meter == nil || f.Retried {
		return nil
	}
	r.Meter.Count(f.Error, f.Verdict)
	if servers, ok := r.Meter.(ServerMeter); ok && f.Upstream != "" {
		servers.CountServer(f.Upstream, Outcome(f))
	}
	if f.Sent == nil || r.Gone != nil && r.Gone.Load() {
		r.Meter.CountSuppressed()
	}
	if suspects, ok := r.Meter.(SuspectMeter); ok && f.Suspected {
		suspects.CountSuspected()
	}
	return nil
}

// unrecorded returns the error to send for a failure without an entry. It keeps the ref, for the logs, and the code.
func (r Recorder) unrecorded(ctx context.Context, e *candor.Error, err error) *candor.Error {
	code := e.Code().String()
	if IsAudit(e.Code()) && e.Origin().By == r.By { // the error already reports this, and its author knows the effect of the call
		r.report(ctx, e, code)
		return e
	}
	refused, ok := errors.AsType[*candor.Error](err)
	if !ok || !IsAudit(refused.Code()) {
		refused = candor.New(candor.CodeLedgerFailed, "", candor.WithCause(err))
	}
	message, suggestion := "The call failed, and that could not be written to the trail.",
		"Find out what the call has changed before you make it again, and tell the operator."
	details := map[string]any{"code": code}
	if refused.Details().Get("effect").String() == `"`+EffectNone+`"` { // the ledger knows that the call had no effect
		details["effect"] = EffectNone
		message = "The call failed and changed nothing, and that could not be written to the trail."
		suggestion = "Tell the operator, with the reference; no call is served until the trail can be written."
	}
	refused = r.Stamp(refused.With(
		candor.WithMessage(message),
		candor.WithRetry(candor.NoRetry()), // the default advice of the code is for calls that were not started
		candor.WithSuggestion(suggestion),
		candor.WithRef(e.Ref()), candor.WithOrigin(r.By, false), candor.WithCallInfo(e.CallInfo()),
		candor.WithDetails(details)), CallSite{})
	r.report(ctx, refused, code)
	return refused
}

// EffectNone is the value of details.effect in a ledger's refusal if the failed call is known to have changed nothing.
const EffectNone = "none"

// report counts and logs a failure without an entry. It does not log the ledger's error, because its text may contain any data.
func (r Recorder) report(ctx context.Context, refused *candor.Error, code string) {
	if r.Meter != nil {
		r.Meter.CountUnrecorded(refused)
	}
	r.Logger.ErrorContext(ctx, "a failure could not be recorded",
		slog.String("ref", refused.Ref()), slog.String("code", code), slog.Any("error", refused))
}

// IsAudit reports whether c reports that a ledger could not record: one of the candor or the KAIZA domain.
func IsAudit(c candor.Code) bool {
	switch c {
	case candor.CodeLedgerFailed, candor.CodeLedgerLocked, kaiza.AuditLogFailed, kaiza.AuditLockFailed:
		return true
	default:
		return false
	}
}
