package gateway

import (
	"slices"
	"sync"
	"time"
)

// Bounds on [RecentCalls].
const (
	recentTime  = 5 * time.Minute
	recentCalls = 1024
)

// latencies keeps the latencies of the last calls. The zero value is ready to use.
type latencies struct {
	mu    sync.Mutex
	calls []recentCall // guarded by mu; a ring once it has recentCalls elements
	next  int          // guarded by mu
}

// recentCall is a call that has ended.
type recentCall struct {
	at     time.Time
	took   time.Duration
	failed bool
}

// observe notes a call that ended at that time.
func (l *latencies) observe(at time.Time, took time.Duration, failed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	call := recentCall{at, max(took, 0), failed}
	if len(l.calls) < recentCalls {
		l.calls = append(l.calls, call)
		return
	}
	l.calls[l.next] = call
	l.next = (l.next + 1) % recentCalls
}

// since returns the calls that ended after a time.
func (l *latencies) since(t time.Time) (calls []recentCall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.calls {
		if c.at.After(t) {
			calls = append(calls, c)
		}
	}
	return calls
}

// RecentCalls describes the tool calls of the last five minutes that were forwarded and have ended, at most the last 1,024 of each
// configuration of the upstream. The latency of a call is the time from its arrival to its answer, retries included.
type RecentCalls struct {
	WindowSeconds int     `json:"windowSeconds"`
	Calls         int     `json:"calls"`
	Failures      int     `json:"failures"`
	P50           float64 `json:"p50Ms"`
	P90           float64 `json:"p90Ms"`
	P99           float64 `json:"p99Ms"`
}

// recent returns the calls of the last minutes of all upstreams together.
func recent(now time.Time, of []*Upstream) RecentCalls {
	out := RecentCalls{WindowSeconds: int(recentTime / time.Second)}
	var took []time.Duration
	for _, u := range of {
		for _, c := range u.latencies.since(now.Add(-recentTime)) {
			took = append(took, c.took)
			if c.failed {
				out.Failures++
			}
		}
	}
	if out.Calls = len(took); out.Calls == 0 {
		return out
	}
	slices.Sort(took)
	percentile := func(p int) float64 { return float64(took[(len(took)*p-1)/100].Microseconds()) / 1000 }
	out.P50, out.P90, out.P99 = percentile(50), percentile(90), percentile(99)
	return out
}
