package gateway

import (
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
)

// minRetryDelay is the delay before the first retry if the error gives none. It doubles with each attempt.
const minRetryDelay = 100 * time.Millisecond

// mayRetry reports whether the call may be sent again: the error is retryable, attempts are left, and the tool is
// declared read-only or idempotent.
func (c *Call) mayRetry(e *candor.Error) bool {
	if c.final || c.attempt >= c.up.Options.Retry.Attempts || !e.Retry().Retryable() || !c.IsTool() || c.up.Options.Mode == ModeObserve {
		return false
	}
	return c.mayRepeat()
}

// afford reports whether the call can be retried now, and after which delay: the budget must have a retry left, and the breaker,
// for which end counts this failure, must let it through.
func (c *Call) afford(e *candor.Error, end func(*candor.Error)) (wait time.Duration, ok bool) {
	if wait, ok = c.up.budget.spend(c, e); !ok {
		return wait, false
	}
	end(e)
	return wait, c.breaker.enter(c) == nil
}

// budget limits retries to a share of the calls, so that they do not overload a failing server.
type budget struct {
	mu     sync.Mutex
	tokens float64
}

const (
	maxTokens     = 10               // retries that can accumulate
	tokensPerCall = 0.2              // average retries per call
	maxRetryDelay = 10 * time.Second // the longest delay before a retry
)

func (b *budget) earn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(b.tokens+tokensPerCall, maxTokens)
}

// spend takes a retry from the budget and returns the delay before it: the delay in the error, plus a random part of up to half
// of it. If the delay in the error exceeds maxRetryDelay there is no retry; the client may wait.
func (b *budget) spend(c *Call, e *candor.Error) (time.Duration, bool) {
	wait := time.Duration(e.Retry().AfterMs()) * time.Millisecond
	if wait == 0 {
		wait = minRetryDelay << min(c.attempt-1, 10)
	}
	if wait > maxRetryDelay {
		return 0, false
	}
	wait = min(wait+rand.N(wait/2+1), maxRetryDelay) //nolint:gosec // spreads retries, guards nothing
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tokens < 1 {
		return 0, false
	}
	b.tokens--
	return wait, true
}

// mayRepeat reports whether the called tool is declared read-only or idempotent.
func (c *Call) mayRepeat() bool {
	t := c.tools.tool(c.tool)
	return t != nil && (t.readOnly || t.again)
}

// withoutSecondEffect returns the error of a call that reached the server, with advice that cannot cause a second effect.
func (c *Call) withoutSecondEffect(e *candor.Error) *candor.Error {
	if e == nil || !c.IsTool() || c.mayRepeat() {
		return e
	}
	switch by := e.Origin(); {
	case by.By != candor.PartyServer:
	case c.progress.Load():
		e = e.With(candor.WithOrigin(candor.PartyTool, by.Inferred))
	case c.unserved:
		e = e.With(candor.WithDetails(e.Details().With("effect", "none")))
	}
	return contract.AvoidSecondEffect(e)
}

// InterruptedError returns the error for a call that reached the server and is abandoned because the gateway shuts down.
func (c *Call) InterruptedError() *candor.Error {
	e := DrainingError()
	if !c.IsTool() || c.mayRepeat() {
		return e
	}
	return e.With(candor.WithRetry(candor.NoRetry()), candor.WithMessage("The gateway is shutting down and did not wait for the answer."),
		candor.WithSuggestion(contract.CheckEffect))
}

// asksForCheck reports whether an error suggests to check if the call took effect, or has lost its advice to repeat the call.
func asksForCheck(e *candor.Error) bool {
	return !e.Retry().Retryable() && (strings.HasPrefix(e.Suggestion(), contract.CheckEffect) || !e.Details().Get("said").Get("retry").IsZero())
}
