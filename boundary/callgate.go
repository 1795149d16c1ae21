package boundary

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
)

const (
	defaultMaxCalls = 1024      // calls that run at the same time
	maxWindow       = 64        // calls that may be about to produce an answer
	minWindow       = 1         // the same where answers are very large
	firstWindow     = 2         // the same until an answer was written
	firstAnswer     = 256 << 10 // assumed size of an answer until one was written
	largeAnswer     = 64 << 10  // answers below this do not matter
	answerCopies    = 12        // how many times its size an answer takes while the SDK encodes it
	runningBudget   = 128 << 20 // bytes that the answers of running calls may come to take
	answerBudget    = 16 << 20  // bytes of answers that wait for their reader
	gateInterval    = 25 * time.Millisecond
	callWait        = 5 * time.Second  // for a call over HTTP
	queueWait       = 30 * time.Second // for a call on a stream while too many are running
)

// callGate limits the calls in flight, so that a client that sends calls and does not read the answers cannot fill the memory.
//
// The size of an answer is known only when its handler has returned. So the gate lets a small number of calls start at once, its window,
// and starts no more while answers of answerBudget bytes wait for their reader. A call that has run for gateInterval without an answer
// does not count for the window any more, so slow handlers do not hold up quick ones; together they are at most max, or so many as
// are expected to fit into runningBudget.
//
// The size of an answer is expected to be that of recent ones, or of a result that a handler has returned and the SDK still encodes.
type callGate struct {
	max     int
	results *resultSizes

	mu       sync.Mutex
	turn     uint64 // the number of the current interval
	running  int    // calls that have not ended
	fresh    int    // calls that began in this interval and have not begun to answer
	ended    int    // calls that ended in this interval
	writing  int    // answers that are being written
	bytes    int64  // their size
	expected int64  // the size of recent answers
	learnt   bool   // an answer was written
	growth   int    // how many times the window is doubled, because the handlers are slow
	waiting  []chan uint64
	ticking  bool // nextTurn is scheduled
}

func newCallGate(limit int, results *resultSizes) *callGate {
	if limit <= 0 {
		limit = defaultMaxCalls
	}
	return &callGate{max: limit, results: results, expected: firstAnswer}
}

// resultSizes remembers the size of large results from the moment their handlers return. The zero value is ready.
type resultSizes struct{ largest atomic.Int64 }

// add takes note of a result of n bytes.
func (s *resultSizes) add(n int) {
	for old := s.largest.Load(); int64(n) > old && n >= largeAnswer && !s.largest.CompareAndSwap(old, int64(n)); old = s.largest.Load() {
	}
}

// decay forgets a part of the size.
func (s *resultSizes) decay() {
	if old := s.largest.Load(); old > 0 {
		s.largest.CompareAndSwap(old, old-old/16-1)
	}
}

// ticket stands for one call that the gate has let in. The zero ticket is of no gate, and its methods do nothing.
type ticket struct {
	gate *callGate
	turn uint64 // 0 when the answer has begun
}

// tryStart lets a call in if there is space for it and no other call waits.
func (g *callGate) tryStart() (ticket, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) > 0 || !g.hasSpace() {
		return ticket{}, false
	}
	return ticket{g, g.begin()}, true
}

// start waits until there is space for a call, or until ctx is done.
func (g *callGate) start(ctx context.Context) (ticket, bool) {
	g.mu.Lock()
	if len(g.waiting) == 0 && g.hasSpace() {
		defer g.mu.Unlock()
		return ticket{g, g.begin()}, true
	}
	ready := make(chan uint64, 1)
	g.waiting = append(g.waiting, ready)
	g.schedule()
	g.mu.Unlock()
	select {
	case turn := <-ready:
		return ticket{g, turn}, true
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, ready); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
		return ticket{}, false
	}
	return ticket{g, <-ready}, true // it was let in at the same moment
}

// full reports that calls wait because as many as allowed are running, and not because a client does not read.
func (g *callGate) full() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running >= g.limit()
}

// hasSpace reports that one more call may begin. The caller holds the lock.
func (g *callGate) hasSpace() bool {
	return g.running < g.limit() && g.bytes < answerBudget && g.fresh < g.window()
}

// limit returns how many calls may run: max, or fewer if their answers can be expected to be large.
func (g *callGate) limit() int {
	return min(g.max, max(int(runningBudget/answerCopies/g.size()), minWindow))
}

// size returns the size that an answer is expected to have. The caller holds the lock.
func (g *callGate) size() int64 { return max(g.expected, g.results.largest.Load()) }

// window returns how many calls may begin in one interval.
func (g *callGate) window() int {
	n := int(min(max(answerBudget/g.size(), minWindow), maxWindow))
	if !g.learnt {
		n = min(n, firstWindow)
	}
	return n << g.growth
}

// begin counts a call. The caller holds the lock.
func (g *callGate) begin() uint64 {
	if g.turn == 0 {
		g.turn = 1
	}
	g.running++
	g.fresh++
	return g.turn
}

// admit lets in the calls that there is space for, the oldest first. The caller holds the lock.
func (g *callGate) admit() {
	for len(g.waiting) > 0 && g.hasSpace() {
		g.waiting[0] <- g.begin()
		g.waiting = slices.Delete(g.waiting, 0, 1)
	}
}

// schedule ends the interval in a while. Without calls that wait the intervals have no end, and cost nothing.
func (g *callGate) schedule() {
	if len(g.waiting) == 0 || g.ticking {
		return
	}
	g.ticking = true
	time.AfterFunc(gateInterval, g.nextTurn)
}

// nextTurn begins an interval. The calls of the last one are slow, unless answers wait for their reader: then it is the client that is slow.
func (g *callGate) nextTurn() {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.writing > 0 && g.bytes >= answerBudget/16 || g.writing >= maxWindow:
		g.growth = 0
	case g.ended == 0 && g.window() < g.limit():
		g.growth++
		fallthrough
	default:
		if g.ended > 0 {
			g.growth = 0
		}
		g.turn++
		g.fresh = 0
	}
	if g.writing == 0 { // nothing waits for its reader, so old sizes need not hold up calls
		g.decay()
	}
	g.ended, g.ticking = 0, false
	g.admit()
	g.schedule()
}

// answering says that n bytes of the call's answer are about to be written.
func (t *ticket) answering(n int) {
	if t.gate == nil {
		return
	}
	g := t.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	t.leaveWindow()
	g.writing++
	g.bytes += int64(n)
	g.expected = max(g.expected, int64(n))
}

// answered says that they were written.
func (t *ticket) answered(n int) {
	if t.gate == nil {
		return
	}
	g := t.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writing--
	g.bytes -= int64(n)
	g.learnt = true
	g.decay()
	g.expected = max(g.expected, int64(n))
	g.admit()
}

// decay lowers the expected size. The caller holds the lock.
func (g *callGate) decay() {
	g.expected = max(g.expected-g.expected/16, 1)
	g.results.decay()
}

// leaveWindow takes the call out of the window. The caller holds the lock.
func (t *ticket) leaveWindow() {
	if t.turn != 0 && t.turn == t.gate.turn {
		t.gate.fresh--
	}
	t.turn = 0
}

// end says that the call is over.
func (t *ticket) end() {
	g := t.gate
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	t.leaveWindow()
	t.gate = nil
	g.running--
	g.ended++
	g.admit()
}

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
