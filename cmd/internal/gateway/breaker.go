package gateway

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor"
)

// Breaker is a circuit breaker for one server. It opens after several consecutive failures of the server: it ended,
// could not be reached, did not answer in time or answered with something unreadable. A failure that a tool reports is
// an answer and does not count. A single tool that hangs or answers badly does not open it, because others may work.
//
// While it is open, one trial call is let through after each rest, whether the trial before it has ended or not, so
// that the delay in a refusal is correct. Any answer of the server closes it.
type Breaker struct {
	policy BreakerPolicy
	now    func() time.Time

	troubled atomic.Bool // there are failures; without any, calls pass without the lock

	mu       sync.Mutex // guards all below
	failures int        // in a row
	whole    bool       // one of them was the server's as a whole
	first    string     // the tool, or method, whose call failed first
	several  bool       // others have failed too
	until    time.Time  // when the next trial is let through; zero while the breaker is closed
}

// NewBreaker returns a closed breaker with the policy of the options.
func NewBreaker(o *Options) *Breaker {
	p := o.Breaker
	if p.Failures <= 0 {
		p.Failures = 10
	}
	if p.Rest <= 0 {
		p.Rest = 10 * time.Second
	}
	return &Breaker{policy: p, now: o.Now}
}

// enter lets a call through, or returns why not.
func (b *Breaker) enter(c *Call) *candor.Error {
	if b.policy.Off {
		return nil
	}
	if b.troubled.Load() {
		if wait := b.remaining(); wait > 0 {
			return candor.RetryableAfter(candor.CodeCircuitOpen, wait, "The server failed too often and is not called for a while.",
				candor.WithOrigin(candor.PartyGateway, false))
		}
	}
	c.passes = true
	return nil
}

// remaining returns how long calls are refused, 0 if this one is let through. Then it is the trial, if the breaker is open.
func (b *Breaker) remaining() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return 0
	}
	now := b.now()
	if wait := b.until.Sub(now); wait > 0 {
		return wait
	}
	b.until = now.Add(b.policy.Rest)
	return 0
}

// close forgets all failures, because the server has answered.
func (b *Breaker) close() {
	if !b.troubled.Load() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures, b.whole, b.first, b.several, b.until = 0, false, "", false, time.Time{}
	b.troubled.Store(false)
}

// fail counts a failure of the server, and opens the breaker if there are too many.
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
	if b.until.IsZero() && b.failures >= b.policy.Failures && (b.whole || b.several) {
		b.until = b.now().Add(b.policy.Rest)
	}
	b.troubled.Store(true)
}

// isWholeServer reports a failure that would have met any call, whatever the tool.
func isWholeServer(e *candor.Error) bool {
	switch e.Code() {
	case candor.CodeUpstreamGone, candor.CodeUpstreamUnreachable, candor.CodeUpstreamUnavailable:
		return true
	default:
		return false
	}
}

// answered ends a call that the server has answered, with a failure or without one.
func (c *Call) answered(*candor.Error) {
	if c.leave() {
		c.breaker.close()
	}
}

// unanswered ends a call without an answer that can be used. A call that was cancelled, for which e is nil, says nothing about the
// server: clients lose patience with one that hangs. Neither does a refusal of the gateway's own.
func (c *Call) unanswered(e *candor.Error) {
	switch {
	case !c.leave(), e == nil, isOurRefusal(e):
	case isReliability(e):
		c.breaker.fail(c, e)
	default:
		c.breaker.close()
	}
}

// leave reports whether the breaker has let the call through and waits for its end.
func (c *Call) leave() bool {
	passed := c.passes
	c.passes = false
	return passed
}

// isReliability reports a failure that is not a mistake of the caller.
func isReliability(e *candor.Error) bool {
	switch e.Class() {
	case candor.ClassUnavailable, candor.ClassTimeout:
		return true
	default:
		return e.Code() == candor.CodeUpstreamMalformed
	}
}
