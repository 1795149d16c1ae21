package boundary

import (
	"sync/atomic"
	"time"
)

// running counts the handlers of a boundary that have not returned, so that a server which stops can let them settle their
// failures before the ledger is closed behind them.
type running struct{ handlers atomic.Int64 }

func (r *running) begin() { r.handlers.Add(1) }
func (r *running) end()   { r.handlers.Add(-1) }

// awaitRest waits until no handler runs. It reports false if one still does when the time is up.
func (r *running) awaitRest(limit time.Duration) bool {
	const pause = 2 * time.Millisecond
	for waited := time.Duration(0); r.handlers.Load() > 0; waited += pause {
		if waited >= limit {
			return false
		}
		time.Sleep(pause)
	}
	return true
}
