package line

import (
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/ratelimit"
)

// RateLimit allows Capacity calls at once and refills evenly, completely in Refill. A Capacity of 0 means no limit. The
// methods of sys are exempt, so that an operator can inspect a busy server.
type RateLimit struct {
	Capacity  int
	Refill    time.Duration
	PerMethod bool // every method has its own bucket
}

// bucket is a token bucket. It is stored as the time at which it will be full again, so that taking a token is one compare-and-swap.
type bucket struct{ full atomic.Int64 }

// take removes a token, or returns how long it takes until one is available.
func (b *bucket) take(now time.Time, limit RateLimit) (wait time.Duration) {
	interval := max(int64(limit.Refill)/int64(limit.Capacity), 1)
	at := now.UnixNano()
	for {
		full := b.full.Load()
		after := max(full, at) + interval
		if wait := after - at - interval*int64(limit.Capacity); wait > 0 {
			return time.Duration(wait)
		}
		if b.full.CompareAndSwap(full, after) {
			return 0
		}
	}
}

// checkRate returns the rate limit error of a call, nil if it may run.
func (s *Server) checkRate(m *method) *candor.Error {
	limit := s.o.RateLimit
	if limit.Capacity <= 0 || m.exempt {
		return nil
	}
	b := &s.global
	if limit.PerMethod {
		b = &m.bucket
	}
	wait := b.take(s.o.Now(), limit)
	if wait == 0 {
		return nil
	}
	return candor.New(ratelimit.Exceeded, "", byServer, candor.WithRetry(candor.RetryIn(wait)))
}
