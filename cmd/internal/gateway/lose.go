package gateway

import (
	"context"

	"github.com/candor-mcp/candor"
)

// Lose is [Call.Fail] for a failure that another attempt may mend: the upstream could not be reached, or rejected the call
// before any answer. What it said, if anything, is evidence. Reached says that the call may have had its effect.
func (c *Call) Lose(ctx context.Context, e *candor.Error, said []byte, reached bool) Reply {
	f := failure{err: c.stamp(e), verdict: lostOr(e), said: said}
	if reached {
		f.err = c.careful(f.err)
	}
	if c.mayRetry(f.err) || !reached && c.mayResend(f.err) {
		if wait, ok := c.afford(f.err, c.unanswered); ok {
			return c.again(ctx, f, wait)
		}
	}
	if !c.over.claim() {
		return Reply{}
	}
	c.blame(f.err)
	shown := f.err
	if c.up.Options.Mode == ModeStrict {
		shown = c.withheld(f.err, ownFindings(e))
	}
	f.sent = c.made(shown)
	return Reply{Bytes: c.recorded(ctx, &f)}
}

// ownFindings are the details of an error that we have made ourselves, as far as nothing that the upstream said is in them. Only
// such an error may be asked whose it is: one that was read from an answer says what it likes.
func ownFindings(made *candor.Error) any {
	if made.Origin().By == candor.PartyGateway {
		return made.Details()
	}
	return nil
}

// PassThrough ends the call with a failure that the client is not told by us: it sees what the upstream said, as it is, or nobody
// is there to be told.
func (c *Call) PassThrough(ctx context.Context, e *candor.Error, said []byte) {
	if !c.over.claim() {
		return
	}
	c.blame(e)
	_ = c.record(ctx, &failure{err: c.stamp(e), verdict: lostOr(e), said: said, silent: true}) // a refusal of the ledger is logged
}

// Commit says that the client has seen some of the answer: there will be no other attempt.
func (c *Call) Commit() { c.final = true }

// mayResend reports whether a call that never reached the upstream may be made once more, whatever it does.
func (c *Call) mayResend(e *candor.Error) bool {
	return !c.final && c.attempt < c.up.Options.Retry.Attempts && e.Retry().Retryable() && c.up.Options.Mode != ModeObserve
}

// blame counts a failure against the upstream and against the caller who repeats it.
func (c *Call) blame(e *candor.Error) {
	c.unanswered(e)
	if c.IsTool() {
		_ = c.up.repeats.note(c, e) // what the caller is told is written already
	}
}
