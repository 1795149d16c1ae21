package gateway

import (
	"sync"
	"time"
)

// The states of a circuit breaker.
const (
	BreakerClosed   = "closed"    // calls pass
	BreakerOpen     = "open"      // calls are refused
	BreakerHalfOpen = "half_open" // the next call is let through as a trial
	BreakerOff      = "off"
)

// BreakerStatus describes the circuit breakers of an upstream: one for an HTTP server, one for each process that the gateway runs.
type BreakerStatus struct {
	State    string     `json:"state"` // open if one of them is open; see [BreakerClosed]
	Since    time.Time  `json:"since"`
	Open     int        `json:"open"`     // breakers that are not closed
	Opened   uint64     `json:"opened"`   // number of times that a breaker opened
	Failures int        `json:"failures"` // consecutive failures; the most of one breaker
	Trial    *time.Time `json:"trial,omitempty"`
}

// breakers has the breakers of an upstream. The zero value is ready to use.
type breakers struct {
	mu     sync.Mutex
	all    map[*Breaker]bool // guarded by mu
	opened uint64            // guarded by mu; by breakers that were dropped
}

func (s *breakers) add(b *Breaker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[*Breaker]bool{}
	}
	s.all[b] = true
}

// DropBreaker removes the breaker of a connection that has ended.
func (u *Upstream) DropBreaker(b *Breaker) {
	s := &u.breakers
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[b] {
		delete(s.all, b)
		s.opened += b.status(u.Options.Now()).Opened
	}
}

// status returns the state of one breaker.
func (b *Breaker) status(now time.Time) BreakerStatus {
	if b.policy.Off {
		return BreakerStatus{State: BreakerOff, Since: b.since.UTC()}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s := BreakerStatus{State: BreakerClosed, Since: b.since.UTC(), Opened: b.opened, Failures: b.failures}
	if b.until.IsZero() {
		return s
	}
	s.State, s.Open = BreakerOpen, 1
	if !now.Before(b.until) {
		s.State = BreakerHalfOpen
	}
	at := b.until.UTC()
	s.Trial = &at
	return s
}

// breakerStatus returns the common state of the breakers of the first upstream. The others get no new calls that could close theirs.
func breakerStatus(now time.Time, of []*Upstream) BreakerStatus {
	var sum BreakerStatus
	for i, u := range of {
		u.breakers.mu.Lock()
		sum.Opened += u.breakers.opened
		for b := range u.breakers.all {
			if s := b.status(now); i == 0 {
				sum = sum.plus(s)
			} else {
				sum.Opened += s.Opened
			}
		}
		u.breakers.mu.Unlock()
	}
	return sum
}

// severity orders the states. An upstream has the most severe state of its breakers.
var severity = map[string]int{"": 0, BreakerOff: 1, BreakerClosed: 2, BreakerHalfOpen: 3, BreakerOpen: 4}

// plus returns the common state: the most severe one, or the first of several.
func (s BreakerStatus) plus(t BreakerStatus) BreakerStatus {
	sum := s
	if severity[t.State] > severity[s.State] {
		sum = t
	}
	sum.Open, sum.Opened, sum.Failures = s.Open+t.Open, s.Opened+t.Opened, max(s.Failures, t.Failures)
	return sum
}
