package gateway

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor"
)

// Breaker is a circuit breaker for one server. It opens after several consecutive failures of the server: the server ended, was
// unreachable, timed out or sent an unreadable answer. A failure that a tool reports is an answer and does not count. A single
// tool that hangs or answers badly does not open it, because others may work.
//
// While it is open, it refuses the callers whose own calls have failed, so that one caller in a loop does not stop the others. It lets
// two trials of each of them through after each TrialInterval, even if the previous ones have not ended, so that the delay in a
// refusal is correct: one of a call that has failed, and one of a call with other arguments. Any answer from the server closes it.
type Breaker struct {
	policy BreakerPolicy
	now    func() time.Time

	troubled atomic.Bool // there are failures; otherwise calls pass without locking mu

	mu       sync.Mutex // guards the fields below
	failures int        // consecutive
	whole    bool       // at least one of them affected the whole server
	first    string     // tool or method of the first failed call
	several  bool       // calls with other names have failed too
	failed   map[string]*failedCalls
	until    time.Time // when the next trial of a failed call is let through; zero if closed
	since    time.Time // when it opened or closed last
	opened   uint64    // number of times that it opened
}

// failedCalls are the calls of one caller that have failed since the last answer of the server.
type failedCalls struct {
	keys         map[callKey]bool
	again, other time.Time // when the next trial of one of keys, and of another call, is let through; zero means when the breaker says
}

const (
	maxFailedCallers = 1024 // further callers are not refused, because one of them may send calls under many names
	maxFailedCalls   = 64   // per caller
)

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
		if wait := b.remaining(c); wait > 0 {
			return candor.RetryableAfter(candor.CodeCircuitOpen, wait, "The server failed too often and is not called for a while.",
				candor.WithOrigin(candor.PartyGateway, false))
		}
	}
	c.passes = true
	return nil
}

// remaining returns how long the call is refused. It returns 0 if the call is let through. If the caller's calls have failed, it is the trial.
func (b *Breaker) remaining(c *Call) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.failed[callerOf(c)]
	if b.until.IsZero() || f == nil {
		return 0
	}
	now, next := b.now(), &f.other
	if f.keys[c.shortKey()] {
		next = &f.again
	}
	if next.IsZero() {
		*next = b.until
	}
	if wait := next.Sub(now); wait > 0 {
		return wait
	}
	*next = now.Add(b.policy.TrialInterval)
	b.until = *next
	return 0
}

// callerOf returns the key of the caller in Breaker.failed. Without a session it has the tool too, because callers may
// look the same.
func callerOf(c *Call) string {
	if c.session != "" {
		return c.session[:min(len(c.session), MaxSessionID)]
	}
	return string(c.caller.Digest[:]) + c.shortKey().tool
}

// shortKey is like key, in bounded memory.
func (c *Call) shortKey() callKey {
	key := c.key()
	key.tool = key.tool[:min(len(key.tool), maxRepeated)]
	return key
}

// close resets the breaker, because the server has answered.
func (b *Breaker) close() {
	if !b.troubled.Load() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.until.IsZero() {
		b.since = b.now()
	}
	b.failures, b.whole, b.first, b.several, b.failed, b.until = 0, false, "", false, nil, time.Time{}
	b.troubled.Store(false)
}

// fail counts a failure of the server, and opens the breaker if the limit is reached.
func (b *Breaker) fail(c *Call, e *candor.Error) {
	name := c.method
	key := c.shortKey()
	if c.IsTool() {
		name += " " + key.tool
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.noteFailed(c, key)
	if b.failures == 0 {
		b.first = name
	}
	b.failures++
	b.several = b.several || name != b.first
	b.whole = b.whole || isWholeServer(e)
	if b.until.IsZero() && b.failures >= b.policy.Failures && (b.whole || b.several) {
		b.since = b.now()
		b.until = b.since.Add(b.policy.TrialInterval)
		b.opened++
	}
	b.troubled.Store(true)
}

// noteFailed remembers a failed call, so that it does not take the trials of other calls. The lock must be held.
func (b *Breaker) noteFailed(c *Call, key callKey) {
	if b.failed == nil {
		b.failed = map[string]*failedCalls{}
	}
	caller := callerOf(c)
	f := b.failed[caller]
	if f == nil && len(b.failed) >= maxFailedCallers {
		return
	}
	if f == nil {
		f = &failedCalls{keys: map[callKey]bool{}}
		b.failed[caller] = f
	}
	if len(f.keys) < maxFailedCalls {
		f.keys[key] = true
	}
}

// isWholeServer reports whether e is a failure that any call would have met, with every tool.
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
