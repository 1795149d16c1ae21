// Package record records and counts the failure of a call before it is sent, for the boundary inside a server and for the gateway in
// front of one.
//
// A failure that cannot be recorded is not sent. The error that is sent instead reports only that: the call was made, so the error
// must claim neither that it had no effect nor that it may be repeated.
//
// The package does not depend on a ledger or a meter, only on the functions it needs of them. It does not recover panics; callers
// must do so if their ledger may panic.
package record

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor"
)

// Recorder records and counts failures. It has no state, so it may be copied, or created for each failure.
type Recorder struct {
	By     candor.Party     // the party that reports that a failure could not be recorded
	Meter  candor.Meter     // may be nil
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
	// Trusted reports that Tool and Session replace those of an error. Otherwise they are set only if the error has none.
	Trusted bool
}

// Failure is a failed call that has not been answered yet.
type Failure struct {
	Error      *candor.Error // stamped
	Verdict    string
	Site       CallSite
	Server     string       // the server behind a gateway; "" elsewhere
	Attempt    bool         // another attempt follows, so the failure is recorded but not counted
	Silent     bool         // no response may be sent
	Suspected  bool         // the answer only looks like a failure, and was sent unchanged
	ClientGone *atomic.Bool // set when the client disconnects, also while the failure is recorded; nil if that is unknown
}

// OutcomeSuspected is the outcome of an answer that only looks like a failure and was sent unchanged.
const OutcomeSuspected = "suspected"

// Outcome returns the verdict, or [OutcomeSuspected].
func (f *Failure) Outcome() string {
	if f.Suspected {
		return OutcomeSuspected
	}
	return f.Verdict
}

// Stamp sets a ref and a time if the error has none, and the call site.
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
	return e.With(options[:n]...)
}

// corrects reports whether known must replace the value in the error.
func (s CallSite) corrects(said, known string) bool {
	return said != known && (s.Trusted || said == "")
}

// Record writes the entry of a failure, then counts it. It returns nil if the failure may be sent. Otherwise it returns the error to
// send instead, which was counted and logged. The context of write is not cancelled with ctx, because the failure is recorded even if
// the client has disconnected. A nil write means that there is no ledger.
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
	if servers, ok := r.Meter.(ServerMeter); ok && f.Server != "" {
		servers.CountServer(f.Server, f.Outcome())
	}
	if f.Silent || f.ClientGone != nil && f.ClientGone.Load() {
		r.Meter.CountSuppressed()
	}
	if suspects, ok := r.Meter.(SuspectMeter); ok && f.Suspected {
		suspects.CountSuspected()
	}
	return nil
}

// unrecorded returns the error to send for a failure without an entry. It keeps the ref, for the logs, and the code.
func (r Recorder) unrecorded(ctx context.Context, f Failure, err error) *candor.Error {
	ref, code := f.Error.Ref(), f.Error.Code().String()
	if IsAudit(f.Error.Code()) && f.Error.Origin().By == r.By { // the error already reports this, and its author knows the effect of the call
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
	if refused.Details().Get("effect").String() == `"`+EffectNone+`"` { // the ledger knows that the call had no effect
		details["effect"] = EffectNone
		message = "The call failed and changed nothing, and that could not be written to the trail."
		suggestion = "Tell the operator, with the reference; no call is served until the trail can be written."
	}
	refused = r.Stamp(refused.With(
		candor.WithMessage(message),
		candor.WithRetry(candor.NoRetry()), // the default advice of the code is for calls that were not started
		candor.WithSuggestion(suggestion),
		candor.WithRef(ref), candor.WithOrigin(r.By, false), candor.WithCallInfo(f.Error.CallInfo()),
		candor.WithDetails(details)), f.Site)
	r.report(ctx, refused, code)
	return refused
}

// EffectNone is the value of details.effect in a ledger's refusal if the failed call is known to have changed nothing.
const EffectNone = "none"

// report counts and logs a failure without an entry. It does not log the ledger's error, whose text may contain any data.
func (r Recorder) report(ctx context.Context, refused *candor.Error, code string) {
	if r.Meter != nil {
		r.Meter.CountUnrecorded(refused)
	}
	r.Logger.ErrorContext(ctx, "a failure could not be recorded",
		slog.String("ref", refused.Ref()), slog.String("code", code), slog.Any("error", refused))
}

// IsAudit reports whether a ledger uses the code c to report that it could not record.
func IsAudit(c candor.Code) bool {
	return c == candor.CodeLedgerFailed || c == candor.CodeLedgerLocked
}
