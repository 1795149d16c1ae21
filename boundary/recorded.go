package boundary

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// recorded is a field of a call that passes through a layer around the SDK. The middleware stores the key of the failure that it has
// recorded, so that the layer does not record the same failure again when it sends the answer. The SDK between the two passes on only
// the answer.
type recorded struct{ key atomic.Pointer[string] }

func (r *recorded) set(key string) { r.key.Store(&key) }

// is reports whether the failure with that key has been recorded.
func (r *recorded) is(key string) bool {
	known := r.key.Load()
	return known != nil && *known == key
}

// take is [recorded.is], but returns true only once.
func (r *recorded) take(key string) bool {
	known := r.key.Load()
	return known != nil && *known == key && r.key.CompareAndSwap(known, nil)
}

// any reports whether a failure of the call has been recorded.
func (r *recorded) any() bool { return r.key.Load() != nil }

// noteRecorded stores the failure of a reply with the call that it answers.
func (g *guard) noteRecorded(req mcp.Request, r *reply) {
	extra := req.GetExtra()
	if o := streamCalls.find(extra); o != nil {
		o.recorded.set(r.recorded)
		return
	}
	if r.err != nil && !noteHTTP(extra, r.recorded) { // over HTTP, results are not checked again
		lateFailures.add(r.recorded)
	}
}

// noteHTTP stores the key of a recorded failure with its call. It returns false if the call has ended.
func noteHTTP(extra *mcp.RequestExtra, key string) bool {
	httpCalls.mu.RLock() // held until the key is stored, so that remove sees it
	defer httpCalls.mu.RUnlock()
	a := httpCalls.calls[markOf(extra)]
	if a != nil {
		a.recorded.set(key)
	}
	return a != nil
}

// takeRecorded reports whether the middleware has recorded the failure with that key, for this request or for another one whose
// response did not contain the answer: a stream opened by GET carries the answers of requests that have ended.
func (a *answer) takeRecorded(key string) bool {
	return a.recorded.take(key) || a.asked == nil &&
		(lateFailures.take(key) || slices.ContainsFunc(httpCalls.values(), func(a *answer) bool { return a.recorded.take(key) }))
}

// keepRecorded remembers a failure whose answer was not written to its request before the request ended.
func (a *answer) keepRecorded() {
	if key := a.recorded.key.Load(); key != nil {
		lateFailures.add(*key)
	}
}

// lateFailures holds the JSON-RPC errors that were recorded without an open call: over HTTP the request may have ended, and the
// answer is sent on another stream. There is one set for the process, because that stream may belong to another boundary.
var lateFailures lateSet

const maxLate = 1 << 12 // keys of one generation

// lateSet counts keys. It keeps two generations and discards older keys, because some recorded failures are never sent.
type lateSet struct {
	mu       sync.Mutex
	now, old map[string]int
}

func (s *lateSet) add(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil || len(s.now) >= maxLate {
		s.now, s.old = map[string]int{}, s.now
	}
	s.now[key]++
}

// take reports whether key was added, and removes it.
func (s *lateSet) take(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return drop(s.old, key) || drop(s.now, key)
}

func drop(keys map[string]int, key string) bool {
	n := keys[key]
	switch {
	case n > 1:
		keys[key] = n - 1
	case n == 1:
		delete(keys, key)
	}
	return n > 0
}
