package line

import (
	"context"
	"sync"
	"time"
)

// deadlineContext is [context.WithDeadline] for calls that rarely use their context: the timer starts with the first
// call of Done or Err.
type deadlineContext struct {
	context.Context // context of the server

	deadline time.Time
	once     sync.Once
	inner    context.Context
	cancel   context.CancelFunc
}

func (c *deadlineContext) start() context.Context {
	c.once.Do(func() { c.inner, c.cancel = context.WithDeadline(c.Context, c.deadline) })
	return c.inner
}

// end cancels the context, including a context that is started later.
func (c *deadlineContext) end() {
	c.once.Do(func() { c.inner, c.cancel = ended, func() {} })
	c.cancel()
}

// ended is a context that has been cancelled.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// Deadline returns the deadline of the call.
func (c *deadlineContext) Deadline() (time.Time, bool) { return c.deadline, true }

// Done returns a channel that is closed at the deadline, when the call has returned or when the client disconnects.
func (c *deadlineContext) Done() <-chan struct{} { return c.start().Done() }

// Err returns why Done is closed, nil if it is not.
func (c *deadlineContext) Err() error { return c.start().Err() }
