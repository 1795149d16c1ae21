package ledger

import (
	"sync"
	"sync/atomic"

	"github.com/candor-mcp/candor/ledger/internal/format"
)

// request is one entry on its way. The caller fills it and waits; from claim to answer it belongs to the writer.
type request struct {
	body    []byte        // what the caller encoded; the writer only reads it
	reserve *reservation  // set if the entry opens one
	settles *reservation  // set if the entry completes one
	state   atomic.Uint32 // queued, then claimed or dropped, whichever comes first

	done   chan struct{} // one token when answered
	result result        // the writer's until done
}

// result is what became of a request.
type result struct {
	chain string
	seq   uint64
	hash  format.Digest
	time  string
	err   error

	unrecorded bool // let go, as the policy wants
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

// request returns an empty one. They are used again, because each has a channel and a buffer; one that was dropped is not, for the queue
// still holds it. Each ledger has its own: under testing/synctest a channel must not leave the bubble it was made in.
func (q *queue) request() *request {
	r, ok := q.spare.Get().(*request)
	if !ok {
		r = &request{done: make(chan struct{}, 1)}
	}
	r.body, r.reserve, r.settles, r.result = r.body[:0], nil, nil, result{}
	r.state.Store(stateQueued)
	return r
}

func (q *queue) free(r *request) {
	if cap(r.body) <= format.MaxLine/16 {
		q.spare.Put(r)
	}
}

// queue holds what waits for the writer. It needs no limit: each request is a caller that waits.
type queue struct {
	mu      sync.Mutex
	waiting []*request // guarded by mu; oldest first
	closed  bool       // guarded by mu
	wake    chan struct{}
	spare   sync.Pool // of requests
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// put adds a request; it refuses if the ledger is closed. The caller then calls [writer.lead].
func (q *queue) put(r *request) bool {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return false
	}
	q.waiting = append(q.waiting, r)
	q.mu.Unlock()
	return true
}

// ring wakes the writer's goroutine. It has been woken already if there is a token.
func (q *queue) ring() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take claims up to n requests into dst. Those whose callers have given up are passed over.
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

// len returns how many wait.
func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// Close lets nothing more in. It reports whether this call did it.
func (q *queue) close() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	was := q.closed
	q.closed = true
	return !was
}

func (q *queue) isClosed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}
