package ledger

import (
	"sync"
	"sync/atomic"

	"github.com/candor-mcp/candor/internal/segment/format"
)

// request is one entry to append. The caller fills it and waits; between claim and answer the writer owns it.
type request struct {
	body      []byte        // encoded by the caller; the writer only reads it
	reserve   *reservation  // set if the entry opens a reservation
	completes *reservation  // set if the entry completes a reservation
	state     atomic.Uint32 // stateQueued, then either stateClaimed or stateDropped

	done   chan struct{} // receives one value when the request is answered
	result result        // owned by the writer until done receives
}

// result is the outcome of a request.
type result struct {
	chain string
	seq   uint64
	hash  format.Digest
	time  string
	err   error
}

// The states of a request.
const (
	stateQueued uint32 = iota
	stateClaimed
	stateDropped
)

func (r *request) claim() bool { return r.state.CompareAndSwap(stateQueued, stateClaimed) }
func (r *request) drop() bool  { return r.state.CompareAndSwap(stateQueued, stateDropped) }

func (r *request) answer(res result) {
	r.result = res
	r.done <- struct{}{}
}

// request returns an empty request. Requests are reused because each has a channel and a buffer, except dropped ones,
// which the queue still holds. Each ledger has a separate pool: under testing/synctest a channel must not be used
// outside the bubble it was created in.
func (q *queue) request() *request {
	r, ok := q.spare.Get().(*request)
	if !ok {
		r = &request{done: make(chan struct{}, 1)}
	}
	r.body, r.reserve, r.completes, r.result = r.body[:0], nil, nil, result{}
	r.state.Store(stateQueued)
	return r
}

func (q *queue) free(r *request) {
	if cap(r.body) <= format.MaxLine/16 {
		q.spare.Put(r)
	}
}

// queue holds the requests that wait for the writer. It needs no limit, because each request has a waiting caller.
type queue struct {
	mu      sync.Mutex
	waiting []*request // guarded by mu; oldest first
	closed  bool       // guarded by mu
	wake    chan struct{}
	spare   sync.Pool // of *request
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// put adds a request and reports whether it did; it does not if the ledger is closed. The caller then calls
// [writer.lead].
func (q *queue) put(r *request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.waiting = append(q.waiting, r)
	}
	return !q.closed
}

// ring wakes the writer's goroutine. It does nothing if a wake-up is already pending.
func (q *queue) ring() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take claims up to n requests into dst. It skips requests whose callers have given up.
func (q *queue) take(dst []*request, n int) []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := 0
	for ; taken < len(q.waiting) && len(dst) < n; taken++ {
		if q.waiting[taken].claim() {
			dst = append(dst, q.waiting[taken])
		}
	}
	left := copy(q.waiting, q.waiting[taken:])
	clear(q.waiting[left:])
	q.waiting = q.waiting[:left]
	return dst
}

// len returns the number of waiting requests.
func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// close stops put from accepting requests.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}

func (q *queue) isClosed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}
