package gateway

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// The window of [RecentCalls] is a ring of slots, each of which counts the calls of a few seconds.
const (
	slotTime    = 10 * time.Second
	slotCount   = 30
	recentTime  = slotCount * slotTime
	bucketCount = 240 // up to 72 minutes; longer calls count in the last bucket
	unitBits    = 10  // the first buckets are 1.024 microseconds wide
	stepBits    = 3   // each doubling of the latency is divided into 8 buckets
)

// latencies counts the latencies of the last minutes in logarithmic buckets. It has no lock, and uses at most 30 kB. The zero value is
// ready to use.
type latencies struct {
	slots [slotCount]atomic.Pointer[latencySlot]
}

// latencySlot has the calls of one slotTime.
type latencySlot struct {
	number  int64 // number of the slot since 1970
	failed  atomic.Uint32
	buckets [bucketCount]atomic.Uint32
}

// observe counts a call that ended at that time.
func (l *latencies) observe(at time.Time, took time.Duration, failed bool) {
	s := l.slot(at.UnixNano() / int64(slotTime))
	s.buckets[bucketOf(took)].Add(1)
	if failed {
		s.failed.Add(1)
	}
}

// slot returns the slot with that number. An old slot in its place is replaced; a newer one, after the clock was set back, is used.
func (l *latencies) slot(number int64) *latencySlot {
	place := &l.slots[uint64(number)%slotCount] //nolint:gosec // any place will do for a time before 1970
	for {
		s := place.Load()
		if s != nil && s.number >= number {
			return s
		}
		if fresh := (&latencySlot{number: number}); place.CompareAndSwap(s, fresh) {
			return fresh
		}
	}
}

// bucketOf returns the bucket of a latency.
func bucketOf(took time.Duration) int {
	units := uint64(max(took, 0)) >> unitBits //nolint:gosec // not negative
	if units < 1<<stepBits {
		return int(units)
	}
	shift := bits.Len64(units) - stepBits - 1
	return min(shift<<stepBits+int(units>>shift), bucketCount-1) //nolint:gosec // 8 to 15
}

// middleOf returns the latency in the middle of a bucket, which is at most 6.25 % from those in it above the first eight buckets.
func middleOf(bucket int) time.Duration {
	low, width := uint64(bucket), uint64(1) //nolint:gosec // not negative
	if bucket >= 1<<stepBits {
		shift := bucket>>stepBits - 1
		low, width = uint64(bucket-shift<<stepBits)<<shift, 1<<shift //nolint:gosec // not negative
	}
	return time.Duration(low<<unitBits + width<<unitBits/2) //nolint:gosec // at most 72 minutes
}

// RecentCalls describes the tool calls of the last five minutes that were forwarded and have ended. The latency of a call is the time from
// its arrival to its answer, retries included, with an error of at most 6.25 %.
type RecentCalls struct {
	WindowSeconds int     `json:"windowSeconds"`
	Calls         uint64  `json:"calls"`
	Failures      uint64  `json:"failures"`
	P50           float64 `json:"p50Ms"`
	P90           float64 `json:"p90Ms"`
	P99           float64 `json:"p99Ms"`
}

// recent returns the calls of the last minutes of all upstreams together.
func recent(now time.Time, of []*Upstream) RecentCalls {
	oldest := now.Add(-recentTime).UnixNano() / int64(slotTime)
	out := RecentCalls{WindowSeconds: int(recentTime / time.Second)}
	var buckets [bucketCount]uint64
	for _, u := range of {
		for i := range u.latencies.slots {
			s := u.latencies.slots[i].Load()
			if s == nil || s.number <= oldest {
				continue
			}
			out.Failures += uint64(s.failed.Load())
			for b := range s.buckets {
				n := uint64(s.buckets[b].Load())
				buckets[b] += n
				out.Calls += n
			}
		}
	}
	out.P50, out.P90, out.P99 = quantile(&buckets, out.Calls, 50), quantile(&buckets, out.Calls, 90), quantile(&buckets, out.Calls, 99)
	return out
}

// quantile returns the latency in milliseconds that so many percent of the calls do not exceed, or 0 without calls.
func quantile(buckets *[bucketCount]uint64, calls, percent uint64) float64 {
	rank := (calls*percent + 99) / 100
	seen := uint64(0)
	for b, n := range buckets {
		if seen += n; n > 0 && seen >= rank {
			return float64(middleOf(b).Microseconds()) / 1000
		}
	}
	return 0
}
