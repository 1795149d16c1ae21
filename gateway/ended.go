package gateway

import "sync/atomic"

// ended lets one of several claim the end of a call: the answer, the deadline, the death of the upstream and the client's
// cancellation race for it.
type ended struct{ claimed atomic.Bool }

func (e *ended) claim() bool { return e.claimed.CompareAndSwap(false, true) }

func (e *ended) is() bool { return e.claimed.Load() }
