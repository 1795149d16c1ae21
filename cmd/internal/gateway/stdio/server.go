package stdio

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/wire"
)

// serverConn is a connection to a server over one stream, with the table of the requests that are open on it.
//
// A call is ended by the goroutine that removes it from the table: on its answer, its deadline, its cancellation or
// the end of the connection. Only that goroutine may use the [gateway.Call].
type serverConn struct {
	up        *gateway.Upstream
	ctx       context.Context // context of the connection, also used by timers
	session   string
	unordered bool // as in clientConn
	client    *lineWriter
	server    *lineWriter
	handshake *handshake
	noise     atomic.Int64 // number of lines from the server that are not messages
	tools     *gateway.ToolCache
	announced *atomic.Bool // as in clientConn
	spoken    bool         // the server has written a line; used only by the server's reader
	listing   listing

	recording chan struct{}  // held by each failure that is being recorded
	work      sync.WaitGroup // goroutines that record failures or end expired calls

	mu       sync.Mutex // guards the fields below
	open     map[string]*pending
	calls    int                 // number of client calls in open
	progress map[string]*pending // calls with progress tokens, by token
	clock    clock
	held     int                // bytes of the open requests
	late     recentKeys         // abandoned calls whose answers may still arrive
	asked    map[string]wire.ID // requests from the server that the client has not answered
	crowded  bool               // there were too many requests to remember; every response is accepted
	over     *candor.Error      // why no further calls can be opened
	empty    chan struct{}      // closed when the last call ends; nil unless drained was called
	lates    int64              // late answers that were dropped
	strays   int64              // number of answers that belong to no call
}

// pending is a request in the table.
type pending struct {
	call    *gateway.Call       // nil for a request of the gateway
	own     func(*wire.Message) // receives the answer to a request of the gateway; nil if none will come
	key     string
	token   string        // progress token
	limit   time.Duration // longest time without progress; 0 means no limit
	began   time.Time
	due     time.Time // deadline
	waiting bool      // it waits for another attempt or for its first one, so no answer can belong to it
	unsent  bool      // it was never sent
	glued   []byte    // an answer that is held back

	deciding bool // a goroutine is deciding whether to send the call, and ends it if not
	revoked  bool // the client has cancelled it in the meantime
}

// maxLate is the number of abandoned calls whose answers may still arrive.
const maxLate = 4096

// recentKeys is a set that drops its oldest keys when it is full.
type recentKeys struct {
	keys  map[string]bool
	order []string // oldest first, starting at next
	next  int
}

func (r *recentKeys) add(key string) {
	switch {
	case r.keys[key]:
	case len(r.order) < maxLate:
		r.order = append(r.order, key)
	default:
		delete(r.keys, r.order[r.next])
		r.order[r.next] = key
		r.next = (r.next + 1) % maxLate
	}
	r.keys[key] = true
}

// newPending returns a request of the gateway, whose answer own receives.
func newPending(id wire.ID, limit time.Duration, own func(*wire.Message)) *pending {
	now := time.Now()
	return &pending{key: gateway.IDKey(id), own: own, limit: limit, began: now, due: now.Add(limit)}
}

// newPendingCall returns a request of a client.
func newPendingCall(c *gateway.Call) *pending {
	p := newPending(c.ID(), c.Timeout(), nil)
	p.call = c
	if token := c.ProgressToken(); token != nil {
		p.token = gateway.IDKey(token)
	}
	return p
}

// appendRequest appends a request of the gateway.
func appendRequest(dst []byte, id wire.ID, method string, params []byte) []byte {
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	dst = append(append(dst, `,"method":"`+method+`","params":`...), params...)
	return append(dst, '}')
}

const (
	// maxHeld bounds the bytes of all open requests of one connection.
	maxHeld = 64 << 20
	// maxRecordings bounds the failures that are recorded concurrently, and maxRecording the size of an answer that is
	// recorded in the background.
	maxRecordings = 256
	maxRecording  = 64 << 10
	// maxStrays bounds the recorded answers that belong to no call.
	maxStrays = 1000
)

// newServerConn returns a connection from the client to a server.
func (p *clientConn) newServerConn(server *lineWriter) *serverConn {
	u := p.up
	return &serverConn{
		up: u, ctx: p.ctx, session: p.session, unordered: p.unordered, client: p.client, server: server, handshake: &p.handshake, tools: &p.tools, announced: &p.announced,
		recording: make(chan struct{}, maxRecordings),
		open:      map[string]*pending{}, progress: map[string]*pending{}, late: recentKeys{keys: map[string]bool{}}, asked: map[string]wire.ID{},
	}
}

// objection returns the reason that a request cannot be opened on this connection, or nil.
func (l *serverConn) objection(m *wire.Message) *candor.Error {
	key := gateway.IDKey(m.ID())
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.over != nil:
		return l.over
	case l.open[key] != nil, l.late.keys[key]: // its answer could be confused with one to the earlier call
		return gateway.NewError(candor.CodeDuplicateRequestID)
	case l.calls >= l.up.Options.Limits.Calls, l.held+len(m.Bytes()) > maxHeld:
		return gateway.NewError(candor.CodeTooManyCalls, "open", l.calls, "openBytes", l.held)
	default:
		return nil
	}
}

// forward opens a call and sends it to the server.
func (l *serverConn) forward(c *gateway.Call) {
	p := newPendingCall(c)
	if e := l.put(p); e != nil {
		l.client.queue(c.Fail(l.ctx, e))
		return
	}
	l.server.queue(c.Bytes())
}

// put adds a request to the table and starts its timeout. It returns an error if the connection has ended.
func (l *serverConn) put(p *pending) *candor.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over != nil {
		return l.over
	}
	l.open[p.key] = p
	if p.call != nil {
		l.calls++
		l.held += len(p.call.Bytes())
	}
	if p.token != "" {
		l.progress[p.token] = p
	}
	l.watch(p)
	return nil
}

// take removes the request with that key from the table, so that the caller may end it. It returns nil if there is no
// such request.
func (l *serverConn) take(key string) *pending {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.open[key]
	if p == nil || p.waiting {
		return nil
	}
	l.remove(p)
	return p
}

// giveUp removes p from the table and reports whether it was still there. If the server still answers, the answer is late.
func (l *serverConn) giveUp(p *pending) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[p.key] != p || p.deciding {
		return false
	}
	l.remove(p)
	if !p.waiting {
		l.late.add(p.key)
	}
	return true
}

// remove removes p from the table. The lock must be held.
func (l *serverConn) remove(p *pending) {
	delete(l.open, p.key)
	if p.call != nil {
		l.calls--
		l.held -= len(p.call.Bytes())
	}
	if l.progress[p.token] == p {
		delete(l.progress, p.token)
	}
	if l.empty != nil && l.calls == 0 {
		close(l.empty)
		l.empty = nil
	}
}

// expire ends a call that timed out. It answers the client first, then notifies the server.
func (l *serverConn) expire(p *pending) {
	if !l.giveUp(p) {
		return
	}
	if p.call == nil {
		p.own(nil)
		return
	}
	l.client.send(p.call.Fail(l.ctx, gateway.NewError(candor.CodeCallTimeout, "timeoutMs", p.limit.Milliseconds(), "attempts", p.call.Attempt())))
	if p.call.Method() != "initialize" && !p.waiting { // the protocol forbids cancelling initialize, and a waiting call was not sent
		l.server.send(gateway.CancelNotification(p.call.ID(), "the call did not finish before its deadline"))
	}
}

// extend restarts the timeout of a call that reports progress, up to [gateway.MaxExtension] times its limit.
func (l *serverConn) extend(token wire.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.progress[gateway.IDKey(token)]
	if p == nil || p.waiting {
		return
	}
	p.call.NoteProgress()
	p.due = p.began.Add(min(time.Since(p.began)+p.limit, gateway.MaxExtension*p.limit))
}

// again sends a call once more after a pause, unless its deadline or the end of the connection comes first.
func (l *serverConn) again(p *pending, wait time.Duration) {
	p.waiting = true
	if e := l.put(p); e != nil {
		l.client.queue(p.call.Fail(l.ctx, e))
		return
	}
	time.AfterFunc(wait, func() {
		l.mu.Lock()
		still := l.open[p.key] == p
		if still {
			p.waiting = false // from now on its answer may be late
		}
		l.mu.Unlock()
		if still {
			l.server.send(p.call.Bytes())
		}
	})
}

// cancel ends a call that the client cancels. It returns false if the call was never sent, so that the server need not
// be notified.
func (l *serverConn) cancel(id wire.ID) (sent bool) {
	key := gateway.IDKey(id)
	l.mu.Lock()
	p := l.open[key]
	sent = p == nil || !p.unsent
	if p != nil && p.deciding {
		p.revoked = true
	}
	l.mu.Unlock()
	if p != nil && p.call != nil && l.giveUp(p) {
		p.call.Cancelled(l.ctx)
	}
	return sent
}

// mayAnswer reports whether the server has requested this response, and removes the request.
func (l *serverConn) mayAnswer(id wire.ID) bool {
	key := gateway.IDKey(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.asked[key]
	delete(l.asked, key)
	return ok || l.crowded
}

// end closes the table. Every open call and every later one is answered with e.
func (l *serverConn) end(e *candor.Error) {
	l.finish(e, func(p *pending) { l.client.send(p.call.Fail(l.ctx, p.reason(e))) })
}

// abandon closes the table because the client has hung up. The open calls count as cancelled and are not answered.
func (l *serverConn) abandon() {
	l.finish(gateway.DrainingError(), func(p *pending) { p.call.Cancelled(l.ctx) })
}

// finish closes the table, so that later calls are answered with e, and ends the open calls with end.
func (l *serverConn) finish(e *candor.Error, end func(*pending)) {
	l.mu.Lock()
	l.over = e
	if l.clock.timer != nil {
		l.clock.timer.Stop()
	}
	left := make([]*pending, 0, len(l.open))
	for _, p := range l.open {
		if !p.deciding {
			left = append(left, p)
		}
		l.remove(p)
	}
	asked := l.asked
	l.asked = nil
	l.mu.Unlock()
	for _, id := range asked { // the server that sent the request has ended
		l.client.send(gateway.CancelNotification(id, "the server that asked has ended"))
	}
	for _, p := range left {
		if p.call == nil {
			p.own(nil)
			continue
		}
		end(p)
	}
	l.work.Wait()
	l.logDropped()
}

// drained returns a channel that is closed when no call of the client is open. Requests of the gateway itself do not count.
func (l *serverConn) drained() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.empty != nil {
		return l.empty
	}
	empty := make(chan struct{})
	if l.calls == 0 {
		close(empty)
		return empty
	}
	l.empty = empty
	return empty
}

// logDropped logs how many messages from the server were dropped.
func (l *serverConn) logDropped() {
	l.mu.Lock()
	lates, strays := l.lates, l.strays
	l.mu.Unlock()
	if lines := l.noise.Load(); lines+lates+strays > 0 {
		l.up.Options.Logger.InfoContext(l.ctx, "output of the server was dropped", slog.Int64("noise", lines), slog.Int64("lateAnswers", lates), slog.Int64("strayAnswers", strays))
	}
}

// clock wakes a serverConn when the first of its calls is due. All calls share one timer, because a timer per call
// would cost more than reading the call. Its fields are guarded by the mutex of the serverConn.
type clock struct {
	timer *time.Timer
	at    time.Time // when it wakes, never later than the first call is due; zero if it is stopped
}

// watch ensures that p is ended when it is due. The lock must be held.
func (l *serverConn) watch(p *pending) {
	if p.limit <= 0 || !l.clock.at.IsZero() && !p.due.Before(l.clock.at) {
		return
	}
	l.clock.at = p.due
	if l.clock.timer == nil {
		l.clock.timer = time.AfterFunc(time.Until(p.due), l.wake)
		return
	}
	l.clock.timer.Reset(time.Until(p.due))
}

// wake ends the calls that are due, and schedules the next wake-up.
func (l *serverConn) wake() {
	for _, p := range l.overdue() {
		go func() { // each call is recorded without waiting for the others
			defer l.work.Done()
			l.expire(p)
		}()
	}
}

// overdue returns the calls that are due and adds each to l.work, so that the session does not end before they are answered.
func (l *serverConn) overdue() (due []*pending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock.at = time.Time{}
	if l.over != nil {
		return nil
	}
	now := time.Now()
	for _, p := range l.open {
		if p.limit > 0 && !p.due.After(now) {
			l.work.Add(1) // under the lock, so that the end of the connection either waits for it or has already happened
			due = append(due, p)
		} else {
			l.watch(p)
		}
	}
	return due
}
