package tail

import (
	"context"
	"errors"
	"log/slog"

	"github.com/candor-mcp/candor"
)

// unrecorded returns the only error that may leave without an entry. It keeps the ref, for the logs, and the code.
func (d Edge) unrecorded(ctx context.Context, f Failure, err error) *candor.Error {
	ref, code := f.Error.Ref(), f.Error.Code().String()
	if IsAudit(f.Error.Code()) && f.Error.Origin().By == d.By { // we said so ourselves, and know better what was done
		d.tell(ctx, f.Error, code)
		return f.Error
	}
	refused, ok := errors.AsType[*candor.Error](err)
	if !ok || !IsAudit(refused.Code()) {
		refused = candor.New(candor.CodeLedgerFailed, "", candor.WithCause(err))
	}
	message, suggestion := "The call failed, and that could not be written to the trail.",
		"Find out what the call has changed before you make it again, and tell the operator."
	details := map[string]any{"code": code}
	if refused.Details().Get("effect").String() == `"`+EffectNone+`"` { // the ledger's owner knows
		details["effect"] = EffectNone
		message = "The call failed and changed nothing, and that could not be written to the trail."
		suggestion = "Tell the operator, with the reference; no call is served until the trail can be written."
	}
	refused = d.Stamp(refused.With(
		candor.WithMessage(message),
		candor.WithRetry(candor.NoRetry()), // the code's own advice is for what was refused before it was begun
		candor.WithSuggestion(suggestion),
		candor.WithRef(ref), candor.WithOrigin(d.By, false), candor.WithCallInfo(f.Error.CallInfo()),
		candor.WithDetails(details)), f.Place)
	d.tell(ctx, refused, code)
	return refused
}

// EffectNone is details.effect of a ledger's refusal where it is known that the failed call changed nothing.
const EffectNone = "none"

// tell counts and logs what has no entry. The ledger's own error is not logged: its text may hold anything.
func (d Edge) tell(ctx context.Context, refused *candor.Error, code string) {
	if d.Meter != nil {
		d.Meter.CountUnrecorded(refused)
	}
	d.Logger.ErrorContext(ctx, "a failure could not be recorded",
		slog.String("ref", refused.Ref()), slog.String("code", code), slog.Any("error", refused))
}

// IsAudit reports a code by which a ledger says that it could not record.
func IsAudit(c candor.Code) bool {
	return c == candor.CodeLedgerFailed || c == candor.CodeLedgerLocked
}
