package boundary

import (
	"context"
	"sync/atomic"
	"time"
)

// running knows the handlers of a server over HTTP that have not returned, so that they can be called off when the server stops: the
// SDK ends those of a session only if its client says so. For any other server it is zero and does nothing.
type running struct {
	stopping context.Context //nolint:containedctx // ends when no handler may go on; set before the first request
	handlers atomic.Int64
}

// begin returns the context for a handler, and what to do when it has returned.
func (r *running) begin(ctx context.Context) (within context.Context, end func()) {
	if r.stopping == nil {
		return ctx, func() {}
	}
	r.handlers.Add(1)
	within, cancel := context.WithCancel(ctx)
	forget := context.AfterFunc(r.stopping, cancel)
	return within, func() {
		forget()
		cancel()
		r.handlers.Add(-1)
	}
}

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
