package boundary

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
)

// callQueue holds the calls of a stream that wait for the gate, the oldest first. Reading goes on meanwhile: what follows may be the
// cancellation of a call, or the answer that a running handler waits for.
type callQueue struct {
	mu      sync.Mutex
	calls   []*openCall
	serving bool // a goroutine empties the queue
}

// ungated reports a method that is not held back: a ping tells that the server is alive, a subscription lasts, and without
// initialize nothing begins.
func ungated(method string) bool {
	return method == "ping" || method == "initialize" || method == "subscriptions/listen"
}

// request is the call as the SDK gets it.
func (o *openCall) request() *jsonrpc.Request {
	streamCalls.add(o)
	return &jsonrpc.Request{ID: o.sdk, Method: o.method, Params: o.params, Extra: &o.extra}
}

// startOrQueue reports whether a call may be passed on now. Otherwise it is passed on later.
func (c *streamConn) startOrQueue(o *openCall) bool {
	if ungated(o.method) {
		o.started.Store(true)
		return true
	}
	q := &c.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.serving {
		if t, ok := c.gate.tryStart(); ok {
			o.ticket = t
			o.started.Store(true)
			return true
		}
		q.serving = true
		go c.serveQueue()
	}
	o.queued = time.Now()
	q.calls = append(q.calls, o)
	return false
}

// next returns the oldest call of the queue, or nil if there is none: then the caller no longer serves the queue.
func (q *callQueue) next() *openCall {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.calls) == 0 {
		q.calls, q.serving = nil, false
		return nil
	}
	o := q.calls[0]
	q.calls[0] = nil
	q.calls = q.calls[1:]
	return o
}

// serveQueue passes on the calls of the queue until it is empty or the connection ends.
func (c *streamConn) serveQueue() {
	for o := c.queue.next(); o != nil; o = c.queue.next() {
		t, ok := c.waitForStart(o)
		if c.life.Err() != nil {
			t.end()
			return
		}
		if ok && !c.pass(o, t) {
			return
		}
	}
}

// waitForStart waits until a call may start. A call is refused if too many are running for long; if the client does not read its answers
// it waits, because a refusal could not be written either.
func (c *streamConn) waitForStart(o *openCall) (ticket, bool) {
	for c.life.Err() == nil {
		// Each call has its own wait, from when it was received. One that is late already gets a moment, in case there is space.
		ctx, cancel := context.WithTimeout(c.life, max(queueWait-time.Since(o.queued), gateInterval))
		t, ok := c.gate.start(ctx)
		cancel()
		if ok {
			return t, true
		}
		if c.gate.full() && c.life.Err() == nil {
			c.refuseQueued(o, candor.New(candor.CodeTooManyCalls, "", candor.WithOrigin(candor.PartyServer, false),
				candor.WithDetails(map[string]any{"limit": c.gate.max})))
			return ticket{}, false
		}
	}
	return ticket{}, false
}

// pass hands a call to the SDK. It reports false if the connection has ended.
func (c *streamConn) pass(o *openCall, t ticket) bool {
	c.starting.Lock()
	defer c.starting.Unlock()
	o.ticket = t
	if !c.calls.start(o) { // cancelled while it waited
		o.ticket.end()
		return true
	}
	return c.deliver(o.request())
}

// refuseQueued answers a call that waits in the queue with an error. It reports false if the call does not wait.
func (c *streamConn) refuseQueued(o *openCall, e *candor.Error) bool {
	if !c.calls.drop(o) {
		return false
	}
	x := o.exchange()
	o.place.shrink(0)
	c.refuse(e, o.id, x, contract.VerdictProtocol)
	return true
}

// dropQueued records the cancellation of a call that waits in the queue and drops it. It reports false if the call does not wait.
func (c *streamConn) dropQueued(o *openCall) bool {
	if !c.calls.drop(o) {
		return false
	}
	o.place.shrink(0)
	c.b.suppress(c.ctx, candor.New(candor.CodeCancelled, "", candor.WithOrigin(candor.PartyClient, false)), contract.VerdictLost, o.exchange())
	return true
}
