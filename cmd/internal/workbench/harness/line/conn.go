package line

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/framing"
)

// conn is one stream that is served.
//
// One goroutine at a time, the reader, reads lines from the stream and runs the calls itself: most calls are quick, and
// starting a goroutine for each would cost more than the call. A watchdog detects a call that takes long and makes
// another goroutine the reader; the first one ends with its call. Calls of a method that was slow the last time start
// on a separate goroutine.
type conn struct {
	s     *Server
	ctx   context.Context // of the calls
	lines *framing.LineReader
	out   *output
	begun bool        // the first line has been read; used by the reader
	ended chan error  // receives the end of the stream
	left  atomic.Bool // the client has closed the output

	mu      sync.Mutex
	reader  *runner
	running int       // number of running calls
	freed   sync.Cond // signals that running has decreased, or stopped is set
	stopped bool      // no more calls may start
	idle    chan struct{}
	resting bool          // the watchdog waits for wake
	wake    chan struct{} // buffer of one
}

func newConn(ctx context.Context, s *Server, lines *framing.LineReader, out *output) *conn {
	c := &conn{s: s, ctx: ctx, lines: lines, out: out, ended: make(chan error, 1), idle: make(chan struct{}), wake: make(chan struct{}, 1)}
	c.freed.L = &c.mu
	c.reader = &runner{c: c}
	return c
}

// acquire waits until another call may run and counts it. It reports false if no more calls may start. The caller holds
// the lock.
func (c *conn) acquire() bool {
	if c.running >= c.s.o.Parallel && !c.stopped {
		c.mu.Unlock()
		c.out.flush() // the client may wait for a response before it lets a call end
		c.mu.Lock()
	}
	for c.running >= c.s.o.Parallel && !c.stopped {
		c.freed.Wait()
	}
	if c.stopped {
		return false
	}
	c.running++
	return true
}

// release counts a call that has ended. The caller holds the lock.
func (c *conn) release() {
	c.running--
	c.freed.Signal()
	if c.stopped && c.running == 0 {
		close(c.idle)
	}
}

// stop prevents further calls from starting. idle is closed when the last one has ended.
func (c *conn) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	c.freed.Broadcast()
	if c.running == 0 {
		close(c.idle)
	}
}

// start runs a function on a new goroutine when another call may run, and writes the response that it returns. It
// reports false if no more calls may start.
func (c *conn) start(run func() []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.acquire() {
		return false
	}
	go c.finish(run)
	return true
}

// finish runs a function, writes the response that it returns, and counts the end of its call.
func (c *conn) finish(run func() []byte) {
	c.add(run())
	c.out.flush()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.release()
}

// add queues a response, unless it is empty. It may append to it.
func (c *conn) add(response []byte) {
	if len(response) > 0 {
		c.out.add(append(response, '\n'))
	}
}

const (
	slowCall   = 2 * time.Millisecond // a longer call causes another goroutine to become the reader
	quietTicks = 20                   // ticks without a call before the watchdog pauses
)

// watch replaces the reader whenever a call blocks it.
func (c *conn) watch(done <-chan struct{}) {
	var last *runner
	var turn uint64
	for quiet := 0; ; quiet++ {
		if quiet > quietTicks && c.rest() {
			select {
			case <-c.wake:
			case <-done:
				return
			}
		}
		time.Sleep(slowCall)
		c.mu.Lock()
		if last == c.reader && turn == c.reader.turn && c.reader.busy && c.running < c.s.o.Parallel && !c.stopped {
			c.replaceReader()
		}
		if last != c.reader || turn != c.reader.turn || c.reader.busy {
			quiet = 0
		}
		last, turn = c.reader, c.reader.turn
		c.mu.Unlock()
		if c.ctx.Err() != nil {
			return
		}
	}
}

// rest reports whether the watchdog may pause until the next call begins.
func (c *conn) rest() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resting = !c.reader.busy
	return c.resting
}

// replaceReader makes another goroutine the reader. The caller holds the lock.
func (c *conn) replaceReader() {
	slow := c.reader
	c.reader = &runner{c: c}
	go c.reader.loop()
	slow.request.stats(c.s).slow.Store(true)
	if ctx := slow.ctx; ctx != nil {
		go func() {
			<-ctx.Done()
			time.Sleep(lateness)
			c.abandon(ctx, slow)
		}()
	}
}

// abandon answers a call that does not return although its context has ended, unless it was answered already.
func (c *conn) abandon(ctx context.Context, r *runner) {
	if !r.state.CompareAndSwap(callRuns, callAbandoned) {
		return
	}
	c.s.abandoned.Add(1)
	r.request.method.errors.Add(1)
	c.finish(func() []byte {
		return c.fail(nil, &r.request, contract.VerdictLost, c.s.failure(ctx, outcome{err: ctx.Err()}))
	})
}
