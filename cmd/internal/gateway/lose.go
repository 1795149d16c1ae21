package gateway

import (
	"context"

	"github.com/candor-mcp/candor"
)

// Lose is like [Call.Fail] for a failure that another attempt may avoid: the upstream could not be reached, or rejected the call
// before any answer. Said is the upstream's response, if any, and is recorded. Reached means that the call may have taken effect.
func (c *Call) Lose(ctx context.Context, e *candor.Error, said []byte, reached bool) Reply {
	f := c.fails(e, lostOr(e))
	f.said = c.up.Secrets.Load().Redact(said)
	if reached {
		f.Error = c.withoutSecondEffect(f.Error)
	}
	if c.mayRetry(f.Error) || !reached && c.mayResend(f.Error) {
		if wait, ok := c.afford(f.Error, c.unanswered); ok {
			return c.again(ctx, f, wait)
		}
	}
	if !c.claim() {
		return Reply{}
	}
	c.countFailure(f.Error)
	shown := f.Error
	if c.up.Options.Mode == ModeStrict {
		shown = c.withheld(f.Error, ownFindings(e))
	}
	f.Sent = c.made(shown)
	return Reply{Bytes: c.recorded(ctx, &f)}
}

// ownFindings returns the details of an error if the gateway made it, otherwise nil. It must not be called with an error that was
// read from an answer, because the upstream chooses the origin of that one.
func ownFindings(made *candor.Error) any {
	if made.Origin().By == candor.PartyGateway {
		return made.Details()
	}
	return nil
}

// FailSilently ends the call with a failure for which the gateway sends nothing: the client sees the upstream's response
// unchanged, or has disconnected.
func (c *Call) FailSilently(ctx context.Context, e *candor.Error, said []byte) {
	if !c.claim() {
		return
	}
	c.countFailure(e)
	f := c.fails(e, lostOr(e))
	f.said = c.up.Secrets.Load().Redact(said)
	_ = c.record(ctx, &f) // a ledger error is logged
}

// Commit notes that the client has seen part of the answer, so the call cannot be retried.
func (c *Call) Commit() { c.final = true }

// mayResend reports whether a call that never reached the upstream may be sent again, whether or not the tool is idempotent.
func (c *Call) mayResend(e *candor.Error) bool {
	return !c.final && c.attempt < c.up.Options.Retry.Attempts && e.Retry().Retryable() && c.up.Options.Mode != ModeObserve
}

// countFailure counts a failure for the circuit breaker and for repeated calls.
func (c *Call) countFailure(e *candor.Error) {
	c.unanswered(e)
	if c.IsTool() {
		_ = c.up.repeats.note(c, e) // the answer is already written
	}
}
