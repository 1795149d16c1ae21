package gateway

import (
	"sync"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"

	"github.com/candor-mcp/candor"
)

// breakers give what keeps failing a rest: the server for failures of its own, because calls of it are lost, and each tool for those that
// it reports itself. One tool whose remote service is down stops no other.
type breakers struct {
	policy BreakerPolicy
	server breaker // nil if all are off

	mu    sync.RWMutex
	tools map[string]breaker // guarded by mu: of those that failed when they were last called
}

type breaker = circuitbreaker.CircuitBreaker[any]

// maxToolBreakers bounds what is remembered. When it is full every tool starts afresh.
const maxToolBreakers = 1024

func newBreakers(p BreakerPolicy) *breakers {
	if p.Off {
		return &breakers{}
	}
	if p.Failures <= 0 {
		p.Failures = 10
	}
	if p.Rest <= 0 {
		p.Rest = 10 * time.Second
	}
	return &breakers{policy: p, server: newBreaker(p), tools: map[string]breaker{}}
}

func newBreaker(p BreakerPolicy) breaker {
	failures := uint(p.Failures) //nolint:gosec // newBreakers has seen to it that it is positive
	return circuitbreaker.NewBuilder[any]().WithFailureThreshold(failures).WithDelay(p.Rest).WithSuccessThreshold(1).Build()
}

// of returns the breaker of a tool, nil if it has not failed lately.
func (b *breakers) of(tool string) breaker {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.tools[tool]
}

// failing returns the breaker of a tool that has failed.
func (b *breakers) failing(tool string) breaker {
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.tools[tool]
	if own == nil {
		if len(b.tools) >= maxToolBreakers {
			clear(b.tools)
		}
		own = newBreaker(b.policy)
		b.tools[tool] = own
	}
	return own
}

// works forgets the failures of a tool, because it works. One that rests was called before it failed, and rests on.
func (b *breakers) works(tool string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if own := b.tools[tool]; own != nil && !own.IsOpen() {
		delete(b.tools, tool)
	}
}

// enter lets the call through, or returns why not.
func (b *breakers) enter(c *Call) *candor.Error {
	if b.server == nil {
		return nil
	}
	own := b.of(c.tool)
	if own != nil && !own.TryAcquirePermit() {
		return resting(own, "The tool failed too often and is being given a rest.")
	}
	if !b.server.TryAcquirePermit() {
		untried(own)
		return resting(b.server, "The server failed too often and is being given a rest.")
	}
	c.passes, c.trial = true, b.server.IsHalfOpen() || own != nil && own.IsHalfOpen()
	return nil
}

// answered ends a call that the server has answered, with a failure or with none: so the server works, and the tool as it says. Only tools
// that the server has listed are remembered: anybody can call others.
func (b *breakers) answered(c *Call, e *candor.Error) {
	if !c.leave() {
		return
	}
	b.server.RecordSuccess()
	switch {
	case e == nil || !isReliability(e):
		if b.of(c.tool) != nil {
			b.works(c.tool)
		}
	case c.isListed() && len(c.tool) <= maxRepeated:
		b.failing(c.tool).RecordFailure()
	}
}

// lost ends a call without an answer: that says nothing of the tool. If it was called off, which is no error, it says nothing of the
// server either: clients lose patience with one that hangs.
func (b *breakers) lost(c *Call, e *candor.Error) {
	if !c.leave() {
		return
	}
	if c.trial { // one that was let through before says nothing of the trial
		untried(b.of(c.tool))
	}
	switch {
	case e == nil && c.trial:
		untried(b.server)
	case e == nil:
	case isReliability(e):
		b.server.RecordFailure()
	default:
		b.server.RecordSuccess()
	}
}

// leave gives up what enter has given, and reports whether there was anything.
func (c *Call) leave() bool {
	passed := c.passes
	c.passes = false
	return passed
}

// isListed reports a call of a tool that the server has listed.
func (c *Call) isListed() bool {
	if !c.isTool() {
		return false
	}
	return c.tools.tool(c.tool) != nil
}

// untried says that a trial of what is at rest has shown nothing: it rests on.
func untried(own breaker) {
	if own != nil && own.IsHalfOpen() {
		own.RecordFailure()
	}
}

// resting is the answer while a breaker is open.
func resting(b breaker, message string) *candor.Error {
	wait := max(b.RemainingDelay(), minRest)
	return candor.RetryableAfter(candor.CodeCircuitOpen, wait, message, candor.WithOrigin(candor.PartyGateway, false))
}

// isReliability reports a failure that is no mistake of the caller.
func isReliability(e *candor.Error) bool {
	switch e.Class() {
	case candor.ClassUnavailable, candor.ClassTimeout:
		return true
	default:
		return e.Code() == candor.CodeUpstreamMalformed
	}
}
