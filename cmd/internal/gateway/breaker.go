package gateway

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway/share"
)

// Breaker is a circuit breaker for one server. It opens after several consecutive failures of the server: the server ended, was
// unreachable, timed out or sent an unreadable answer. A failure that a tool reports is an answer and does not count. A single
// tool that hangs or answers badly does not open it, because others may work.
//
// While it is open, it lets one trial call through after each TrialInterval, even if the previous trial has not ended, so that
// the delay in a refusal is correct. Any answer from the server closes it.
//
// A report of another gateway opens it too, unless the server has just answered this one. The trial decides whether it stays open.
type Breaker struct {
	policy BreakerPolicy
	now    func() time.Time
	shared *share.Upstream // nil if other gateways have no part in it

	troubled atomic.Bool // there are failures; otherwise calls pass without locking mu

	mu       sync.Mutex    // guards the fields below
	failures int           // consecutive
	whole    bool          // at least one of them affected the whole server
	first    string        // tool or method of the first failed call
	several  bool          // calls with other names have failed too
	until    time.Time     // when the next trial is let through; zero if closed
	since    time.Time     // when it opened or closed last
	opened   uint64        // number of times that it opened
	report   *share.Report // why it is open, if no failures of this gateway are the reason
	told     time.Time     // when other gateways were last told that it is open
}

// NewBreaker returns a closed breaker for a connection to the server. The caller must call [Upstream.DropBreaker] when the connection
// has ended.
func (u *Upstream) NewBreaker() *Breaker {
	p, now := u.Options.Breaker, u.Options.Now
	p.Failures, p.TrialInterval = OrDefault(p.Failures, 10), OrDefault(p.TrialInterval, 10*time.Second)
	b := &Breaker{policy: p, now: now, since: now()}
	u.breakers.add(b)
	return b
}

// enter lets a call through, or returns the error to refuse it with.
func (b *Breaker) enter(c *Call) *candor.Error {
	if b.policy.Off {
		return nil
	}
	if b.troubled.Load() {
		if wait, report := b.remaining(); wait > 0 {
			return circuitOpen(wait, report)
		}
	}
	c.passes = true
	return nil
}

// remaining returns how long calls are refused, and the report that is the reason, if any. It returns 0 if this call is let through. If
// the breaker is open, that call is the trial.
func (b *Breaker) remaining() (time.Duration, *share.Report) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return 0, nil
	}
	now := b.now()
	if wait := b.until.Sub(now); wait > 0 {
		return wait, b.report
	}
	if b.isStale(now) {
		b.reset()
		return 0, nil
	}
	b.until = now.Add(b.policy.TrialInterval)
	return 0, nil
}

// close resets the breaker, because the server has answered.
func (b *Breaker) close() {
	if !b.troubled.Load() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.until.IsZero():
	case b.report == nil:
		b.shared.Closed()
	case b.failures == 0:
		b.shared.Refuted(b.policy.TrialInterval)
	}
	b.reset()
}

// reset closes the breaker. The lock must be held.
func (b *Breaker) reset() {
	if !b.until.IsZero() {
		b.since = b.now()
	}
	b.failures, b.whole, b.first, b.several, b.until, b.report, b.told = 0, false, "", false, time.Time{}, nil, time.Time{}
	b.troubled.Store(false)
}

// fail counts a failure of the server, and opens the breaker if the limit is reached.
func (b *Breaker) fail(c *Call, e *candor.Error) {
	name := c.method
	if c.IsTool() {
		name += " " + c.tool[:min(len(c.tool), maxRepeated)]
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures == 0 {
		b.first = name
	}
	b.failures++
	b.several = b.several || name != b.first
	b.whole = b.whole || isWholeServer(e)
	enough := b.failures >= b.policy.Failures && (b.whole || b.several)
	if b.until.IsZero() && enough {
		b.since = b.now()
		b.until = b.since.Add(b.policy.TrialInterval)
		b.opened++
	}
	b.troubled.Store(true)
	if b.shared != nil && !b.until.IsZero() {
		b.tell(e, enough)
	}
}

// isWholeServer reports whether e is a failure that any call would have met, whatever the tool.
func isWholeServer(e *candor.Error) bool {
	switch e.Code() {
	case candor.CodeUpstreamGone, candor.CodeUpstreamUnreachable, candor.CodeUpstreamUnavailable:
		return true
	default:
		return false
	}
}

// answered ends a call that the server has answered, successfully or not.
func (c *Call) answered(*candor.Error) {
	if c.leave() {
		c.breaker.close()
	}
}

// unanswered ends a call that has no usable answer. The error is nil for a cancelled call. Cancelled calls and refusals by the
// gateway are not counted, because they say nothing about the server.
func (c *Call) unanswered(e *candor.Error) {
	switch {
	case !c.leave(), e == nil, isOurRefusal(e):
	case isReliability(e):
		c.breaker.fail(c, e)
	default:
		c.breaker.close()
	}
}

// leave reports whether the breaker let the call through and has not yet seen its end.
func (c *Call) leave() bool {
	passed := c.passes
	c.passes = false
	return passed
}

// isReliability reports whether e is a failure of the server, not a mistake of the caller.
func isReliability(e *candor.Error) bool {
	switch e.Class() {
	case candor.ClassUnavailable, candor.ClassTimeout:
		return true
	default:
		return e.Code() == candor.CodeUpstreamMalformed
	}
}
