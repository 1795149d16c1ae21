package boundary

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// maxInFlight is the maximum number of calls of one stream that were not answered, most of which wait. The SDK has no such limit.
const maxInFlight = 10_000

// openCall is a request that has no answer yet. Once it is in the table, only passed changes, and cancelled, which is guarded
// by the lock of the table.
type openCall struct {
	id        wire.ID    // as the client wrote it
	sdk       jsonrpc.ID // as the SDK knows it
	method    string
	params    json.RawMessage // the SDK holds them just as long
	cancelled bool            // the client has cancelled the call, so it must not be answered
	reserved  int64           // bytes of the budget that its params hold

	passed
	extra mcp.RequestExtra // identifies the call inside the SDK
}

// endless reports whether the call lasts until it is cancelled.
func (o *openCall) endless() bool { return o.method == "subscriptions/listen" }

// maxMethodName is the maximum length of a method name in errors and entries.
const maxMethodName = 128

func (o *openCall) exchange() exchange {
	x := exchange{method: candor.Public(o.method, maxMethodName), params: o.params}
	if o.method == "tools/call" {
		if v, err := wire.ParseValue(o.params, streamLimits(0)); err == nil {
			x.tool, _ = v.Path("name").Str()
		}
	}
	return x
}

// inflight is the table of the open calls of one stream.
type inflight struct {
	mu         sync.Mutex
	calls      map[jsonrpc.ID]*openCall // by the id that the SDK knows
	unanswered int                      // how many of them are not cancelled
	unsent     int                      // closed calls whose answers are being written
	shut       bool                     // new calls are refused
	// fewer receives a value when a call was removed or cancelled.
	fewer chan struct{}
}

func newInflight() *inflight {
	return &inflight{calls: map[jsonrpc.ID]*openCall{}, fewer: make(chan struct{}, 1)}
}

// open adds a call, or returns the error to refuse it with.
func (t *inflight) open(o *openCall) *candor.Error {
	server := candor.WithOrigin(candor.PartyServer, false)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.calls[o.sdk] != nil:
		return candor.New(candor.CodeDuplicateRequestID, "", server)
	case t.shut:
		return candor.New(candor.CodeUnavailable, "The server is shutting down.", server)
	case len(t.calls)+t.unsent >= maxInFlight:
		return candor.New(candor.CodeTooManyCalls, "", server, candor.WithDetails(map[string]any{"limit": maxInFlight}))
	}
	t.calls[o.sdk] = o
	t.unanswered++
	return nil
}

// stopped reports whether new calls are refused.
func (t *inflight) stopped() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shut
}

// close removes the call that the SDK is about to answer, and returns it and whether it was cancelled.
func (t *inflight) close(id jsonrpc.ID) (o *openCall, cancelled bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o = t.calls[id]
	if o == nil {
		return nil, false
	}
	delete(t.calls, id)
	if !o.cancelled {
		t.unanswered--
	}
	t.unsent++
	t.notify()
	return o, o.cancelled
}

// sent notes that the answer to a closed call was written.
func (t *inflight) sent() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unsent--
}

// cancel marks a call as cancelled and returns it. It returns nil if the call is not open or cannot be cancelled.
func (t *inflight) cancel(id wire.ID) *openCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.calls[sdkID(id)]
	if o == nil || o.cancelled || o.method == "initialize" {
		return nil
	}
	o.cancelled = true
	t.unanswered--
	t.notify()
	return o
}

func (t *inflight) notify() {
	select {
	case t.fewer <- struct{}{}:
	default:
	}
}

// left returns the number of calls that must be answered, and the number of open calls.
func (t *inflight) left() (unanswered, open int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.unanswered, len(t.calls)
}

// shutDown refuses new calls from now on and returns the open ones.
func (t *inflight) shutDown() []*openCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shut = true
	return slices.Collect(maps.Values(t.calls))
}
