package gateway

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
)

// minRest is the delay before the first retry if the error gives none. It doubles with each attempt.
const minRest = 100 * time.Millisecond

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
	policy RetryPolicy
	mu     *sync.Mutex
	tokens float64
}

// maxTokens bounds the retries that can accumulate.
const maxTokens = 10

func newBudget(p RetryPolicy) budget {
	if p.MaxWait <= 0 {
		p.MaxWait = 10 * time.Second
	}
	if p.Budget <= 0 {
		p.Budget = 0.2
	}
	return budget{policy: p, mu: new(sync.Mutex), tokens: maxTokens}
}

func (b *budget) earn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(b.tokens+b.policy.Budget, maxTokens)
}

// spend takes a retry from the budget and returns the delay before it: the delay in the error, plus a random part of up to half
// of it. If the delay in the error exceeds the policy's limit there is no retry; the client may wait.
func (b *budget) spend(c *Call, e *candor.Error) (time.Duration, bool) {
	wait := time.Duration(e.Retry().AfterMs()) * time.Millisecond
	if wait == 0 {
		wait = minRest << min(c.attempt-1, 10)
	}
	if wait > b.policy.MaxWait {
		return 0, false
	}
	wait = min(wait+rand.N(wait/2+1), b.policy.MaxWait) //nolint:gosec // spreads retries, guards nothing
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tokens < 1 {
		return 0, false
	}
	b.tokens--
	return wait, true
}
