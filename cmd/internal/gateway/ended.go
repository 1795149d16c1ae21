package gateway

import "sync/atomic"

// ended ensures that a call ends once. The answer, the deadline, the end of the upstream and the client's cancellation compete to
// claim it.
type ended struct {
	claimed atomic.Bool
	open    *atomic.Int64 // number of calls that have not ended; nil if this call is not counted
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
