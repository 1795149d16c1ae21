package boundary

import (
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// passed is a call that a layer around the SDK has passed on. The middleware finds it by the call's RequestExtra.
type passed struct {
	ticket
	recorded
	conn *streamConn // nil over HTTP
}

// passedCalls holds the open calls of all layers, by the RequestExtra on a stream and by the address of answer.mark over HTTP. Between
// the layer and the middleware the SDK keeps only these.
var passedCalls registry

// registry is a map for concurrent use.
type registry struct {
	mu    sync.RWMutex
	calls map[any]*passed
}

func (r *registry) add(key any, call *passed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls == nil {
		r.calls = map[any]*passed{}
	}
	r.calls[key] = call
}

func (r *registry) remove(key any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.calls, key)
}

// callOf returns the call that has this RequestExtra, or nil.
func callOf(extra *mcp.RequestExtra) *passed {
	if extra == nil {
		return nil
	}
	passedCalls.mu.RLock()
	defer passedCalls.mu.RUnlock()
	if mark := extra.Header[throughHeader]; len(mark) == 1 {
		return passedCalls.calls[&mark[0]]
	}
	return passedCalls.calls[extra]
}

// recorded is the key of the failure of a call that the middleware has recorded, so that the layer around the SDK does not record
// it again when it writes the answer.
type recorded struct{ key atomic.Pointer[string] }

func (r *recorded) set(key string) { r.key.Store(&key) }

// is reports whether the failure with that key has been recorded.
func (r *recorded) is(key string) bool {
	known := r.key.Load()
	return known != nil && *known == key
}

// any reports whether a failure of the call has been recorded.
func (r *recorded) any() bool { return r.key.Load() != nil }
