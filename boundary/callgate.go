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
	maxWindow       = 64        // maximum number of calls that may be about to produce an answer
	minWindow       = 1         // minimum of the same, for very large answers
	firstWindow     = 2         // maximum of the same until an answer was written
	firstAnswer     = 256 << 10 // assumed size of an answer until one was written
	largeAnswer     = 64 << 10  // smaller answers are ignored
	answerCopies    = 12        // memory of an answer while the SDK encodes it, as a multiple of its size
	runningBudget   = 128 << 20 // memory for the answers of running calls, in bytes
	answerBudget    = 16 << 20  // maximum total size of the answers that are being written
	gateInterval    = 25 * time.Millisecond
	callWait        = 5 * time.Second  // maximum wait of a call over HTTP
	queueWait       = 30 * time.Second // maximum wait of a call on a stream while too many are running
)

// callGate limits the calls in flight, so that a client that sends calls and does not read the answers cannot exhaust the memory.
//
// The size of an answer is known only when its handler has returned. Therefore the gate starts only a small number of calls per
// interval, its window, and starts none while at least answerBudget bytes of answers are being written. A call that has run for
// gateInterval without an answer no longer counts for the window, so slow handlers do not delay quick ones. At most max calls run at
// the same time, or as many as are expected to fit into runningBudget.
//
// The expected size of an answer is that of recent answers, or of a result that a handler has returned and the SDK is still encoding.
type callGate struct {
	max     int
	results *resultSizes

	mu       sync.Mutex
	turn     uint64 // number of the current interval
	running  int    // calls that have not ended
	fresh    int    // calls that began in this interval and have not begun to answer
	ended    int    // calls that ended in this interval
	writing  int    // answers that are being written
	bytes    int64  // size of the answers that are being written
	expected int64  // size of recent answers
	learnt   bool   // an answer was written
	growth   int    // how many times the window was doubled because handlers are slow
	waiting  []chan uint64
	ticking  bool // nextTurn is scheduled
}

func newCallGate(limit int, results *resultSizes) *callGate {
	if limit <= 0 {
		limit = defaultMaxCalls
	}
	return &callGate{max: limit, results: results, expected: firstAnswer}
}

// resultSizes remembers the size of large results from the moment their handlers return. The zero value is ready to use.
type resultSizes struct{ largest atomic.Int64 }

// add notes a result of n bytes.
func (s *resultSizes) add(n int) {
	for old := s.largest.Load(); int64(n) > old && n >= largeAnswer && !s.largest.CompareAndSwap(old, int64(n)); old = s.largest.Load() {
	}
}

// decay lowers the remembered size.
func (s *resultSizes) decay() {
	if old := s.largest.Load(); old > 0 {
		s.largest.CompareAndSwap(old, old-old/16-1)
	}
}

// ticket represents one call that the gate has started. The methods of the zero ticket do nothing.
type ticket struct {
	gate *callGate
	turn uint64 // 0 when the answer has begun
}

// tryStart starts a call if there is space for it and no other call is waiting.
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
	return ticket{g, <-ready}, true // it was started at the same moment
}

// full reports whether as many calls as allowed are running. If not, calls wait because a client does not read.
func (g *callGate) full() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running >= g.limit()
}

// hasSpace reports whether one more call may start. The caller holds the lock.
func (g *callGate) hasSpace() bool {
	return g.running < g.limit() && g.bytes < answerBudget && g.fresh < g.window()
}

// limit returns how many calls may run: max, or fewer if large answers are expected. The caller holds the lock.
func (g *callGate) limit() int {
	return min(g.max, max(int(runningBudget/answerCopies/g.size()), minWindow))
}

// size returns the expected size of an answer. The caller holds the lock.
func (g *callGate) size() int64 { return max(g.expected, g.results.largest.Load()) }

// window returns how many calls may start in one interval. The caller holds the lock.
func (g *callGate) window() int {
	n := int(min(max(answerBudget/g.size(), minWindow), maxWindow))
	if !g.learnt {
		n = min(n, firstWindow)
	}
	return n << g.growth
}

// begin counts a call that starts, and returns the number of the interval. The caller holds the lock.
func (g *callGate) begin() uint64 {
	if g.turn == 0 {
		g.turn = 1
	}
	g.running++
	g.fresh++
	return g.turn
}

// admit starts the waiting calls that there is space for, the oldest first. The caller holds the lock.
func (g *callGate) admit() {
	for len(g.waiting) > 0 && g.hasSpace() {
		g.waiting[0] <- g.begin()
		g.waiting = slices.Delete(g.waiting, 0, 1)
	}
}

// schedule arranges for the interval to end after gateInterval. It does nothing while no call is waiting, so an idle gate has no
// timer. The caller holds the lock.
func (g *callGate) schedule() {
	if len(g.waiting) == 0 || g.ticking {
		return
	}
	g.ticking = true
	time.AfterFunc(gateInterval, g.nextTurn)
}

// nextTurn starts the next interval. It treats the calls of the last interval as slow, unless many answers are still being written:
// then the client is slow, and the window does not advance.
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
	if g.writing == 0 { // no answer is being written, so old sizes need not delay calls
		g.decay()
	}
	g.ended, g.ticking = 0, false
	g.admit()
	g.schedule()
}

// answering notes that n bytes of the call's answer are about to be written.
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

// answered notes that the n bytes passed to answering were written.
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

// leaveWindow removes the call from the window. The caller holds the lock.
func (t *ticket) leaveWindow() {
	if t.turn != 0 && t.turn == t.gate.turn {
		t.gate.fresh--
	}
	t.turn = 0
}

// end notes that the call has finished.
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

// callQueue holds the calls of a stream that wait for the gate, the oldest first. The stream is still read meanwhile, because the
// next message may be the cancellation of a call or an answer that a running handler waits for.
type callQueue struct {
	mu      sync.Mutex
	calls   []*openCall
	serving bool // a goroutine empties the queue
}

// ungated reports whether calls of a method bypass the gate: a ping checks that the server is alive, a subscription has no end, and
// initialize comes before any other call.
func ungated(method string) bool {
	return method == "ping" || method == "initialize" || method == "subscriptions/listen"
}

// request returns the request to pass to the SDK, and registers the call in streamCalls.
func (o *openCall) request() *jsonrpc.Request {
	streamCalls.add(&o.extra, o)
	return &jsonrpc.Request{ID: o.sdk, Method: o.method, Params: o.params, Extra: &o.extra}
}

// startOrQueue reports whether a call may be passed on now. If not, it adds the call to the queue.
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

// next returns the oldest call of the queue. It returns nil if the queue is empty; the caller then no longer serves the queue.
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

// waitForStart waits until a call may start. If too many calls are running for queueWait, it refuses the call. If the client does not
// read its answers, it keeps waiting, because a refusal could not be written either.
func (c *streamConn) waitForStart(o *openCall) (ticket, bool) {
	for c.life.Err() == nil {
		// The wait of each call begins when the call was received. A call that is already late still waits for gateInterval, in case
		// there is space.
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
	c.budget.Release(&o.reserved)
	c.refuse(e, o.id, x, contract.VerdictProtocol)
	return true
}

// dropQueued records the cancellation of a call that waits in the queue and drops it. It reports false if the call does not wait.
func (c *streamConn) dropQueued(o *openCall) bool {
	if !c.calls.drop(o) {
		return false
	}
	c.budget.Release(&o.reserved)
	c.b.suppress(c.ctx, candor.New(candor.CodeCancelled, "", candor.WithOrigin(candor.PartyClient, false)), contract.VerdictLost, o.exchange())
	return true
}
