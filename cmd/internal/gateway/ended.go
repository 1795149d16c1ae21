package gateway

import "sync/atomic"

// ended lets one of several claim the end of a call: the answer, the deadline, the death of the upstream and the client's
// cancellation race for it.
type ended struct {
	claimed atomic.Bool
	open    *atomic.Int64 // counts the calls that have no end yet; nil if this one is none of them
}

func (e *ended) claim() bool {
	if !e.claimed.CompareAndSwap(false, true) {
		return false
	}
	if e.open != nil {
		e.open.Add(-1)
	}
	return true
}

func (e *ended) is() bool { return e.claimed.Load() }
