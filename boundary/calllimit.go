package boundary

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/candor-mcp/candor"
)

const (
	defaultMaxCalls = 1024     // calls that run at the same time
	resultMemory    = 10 << 20 // size of the results that are being encoded or written; the SDK uses up to 12 times that
	smallResult     = 4 << 10  // smaller results are not counted
	httpCallWait    = 5 * time.Second
	streamCallWait  = 30 * time.Second
	forever         = 1000 * time.Hour
)

// callLimit limits the calls that run at the same time on a stream or an HTTP layer, and the size of the results that were not yet
// written. While a result waits for memory, no further handler is started, so a client that does not read its answers cannot exhaust
// the memory.
type callLimit struct {
	max            int
	calls, results *semaphore.Weighted
}

func newCallLimit(limit int) *callLimit {
	if limit <= 0 {
		limit = defaultMaxCalls
	}
	return &callLimit{limit, semaphore.NewWeighted(int64(limit)), semaphore.NewWeighted(resultMemory)}
}

// acquire waits until n are free, at most for the given time.
func acquire(ctx context.Context, s *semaphore.Weighted, n int64, wait time.Duration) bool {
	if s.TryAcquire(n) {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return s.Acquire(ctx, n) == nil
}

// tooManyCalls returns the error for a call that could not start in time.
func (l *callLimit) tooManyCalls() *candor.Error {
	return candor.New(candor.CodeTooManyCalls, "", candor.WithOrigin(candor.PartyServer, false),
		candor.WithDetails(map[string]any{"limit": l.max}))
}

// ungated reports whether calls of a method are not limited: a ping checks that the server is alive, a subscription is endless, and
// initialize comes before any other call.
func ungated(method string) bool {
	return method == "ping" || method == "initialize" || method == "subscriptions/listen"
}

// ticket is the share of a call in a callLimit. It is used by the middleware, and released by the layer that writes the answer.
type ticket struct {
	mu    sync.Mutex
	limit *callLimit // nil if the call has not started, or has ended
	bytes int64      // of its result
}

// start waits until the call may run, at most for the given time. It returns false if it may not.
func (t *ticket) start(ctx context.Context, l *callLimit, wait time.Duration) bool {
	if !acquire(ctx, l.calls, 1, wait) {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limit = l
	return true
}

// await waits until no result waits for memory. It returns false if that takes longer than the given time.
func (t *ticket) await(ctx context.Context, wait time.Duration) bool {
	l := t.running()
	if l == nil {
		return true
	}
	if !acquire(ctx, l.results, 1, wait) {
		return false
	}
	l.results.Release(1)
	return true
}

// running returns the limit of a running call, or nil.
func (t *ticket) running() *callLimit {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.limit
}

// returned notes that the handler has returned a result of n bytes, and waits for memory. It returns false if ctx is done first.
func (t *ticket) returned(ctx context.Context, n int) bool {
	l := t.running()
	if l == nil || n < smallResult {
		return true
	}
	size := min(int64(n), resultMemory)
	if !acquire(ctx, l.results, size, forever) {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.limit == nil {
		l.results.Release(size)
	} else {
		t.bytes += size
	}
	return true
}

// end notes that the answer was written, or will not be.
func (t *ticket) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.limit != nil {
		t.limit.results.Release(t.bytes)
		t.limit.calls.Release(1)
		t.limit = nil
	}
}
