package boundary

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// maxInFlight is the maximum number of calls of one stream that wait for an answer, most of them in the queue. The SDK has no such
// limit.
const maxInFlight = 10_000

// openCall is a request that has no answer yet. Once it is in the table, only started, ticket, queued and recorded change, and
// cancelled, which is guarded by the lock of the table.
type openCall struct {
	id        wire.ID    // as the client wrote it
	sdk       jsonrpc.ID // as the SDK knows it
	method    string
	params    json.RawMessage // the SDK holds them just as long
	cancelled bool            // the client has cancelled the call, so it must not be answered
	started   atomic.Bool     // passed on to the SDK; until then it waits in the queue
	ticket    ticket          // held from the start until the answer is written
	reserved  int64           // bytes of the budget that its params hold
	queued    time.Time       // when it was added to the queue

	recorded recorded // set by the middleware

	conn  *streamConn
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
	calls      map[string]*openCall // by keyOf the client's id
	unanswered int                  // how many of them are not cancelled
	shut       bool                 // new calls are refused
	// fewer receives a value when a call was removed or cancelled.
	fewer chan struct{}
}

func newInflight() *inflight {
	return &inflight{calls: map[string]*openCall{}, fewer: make(chan struct{}, 1)}
}

// open adds a call, or returns the error to refuse it with.
func (t *inflight) open(o *openCall) *candor.Error {
	server := candor.WithOrigin(candor.PartyServer, false)
	key := keyOf(o.id)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.calls[key] != nil:
		return candor.New(candor.CodeDuplicateRequestID, "", server)
	case t.shut:
		return candor.New(candor.CodeUnavailable, "The server is shutting down.", server)
	case len(t.calls) >= maxInFlight:
		return candor.New(candor.CodeTooManyCalls, "", server, candor.WithDetails(map[string]any{"limit": maxInFlight}))
	}
	t.calls[key] = o
	t.unanswered++
	return nil
}

// start marks a call as passed on to the SDK. It returns false if the call was dropped while it waited.
func (t *inflight) start(o *openCall) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calls[keyOf(o.id)] != o {
		return false
	}
	o.started.Store(true)
	return true
}

// drop removes a call that waits in the queue. It returns false if the call has started, or was dropped before.
func (t *inflight) drop(o *openCall) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := keyOf(o.id)
	if o.started.Load() || t.calls[key] != o {
		return false
	}
	t.remove(key, o)
	return true
}

// remove removes a call. The caller holds the lock.
func (t *inflight) remove(key string, o *openCall) {
	delete(t.calls, key)
	if !o.cancelled {
		t.unanswered--
	}
	t.notify()
}

// close removes the call that the SDK is about to answer, and returns it and whether it was cancelled.
func (t *inflight) close(id jsonrpc.ID) (o *openCall, cancelled bool) {
	key := keyOfSDK(id)
	t.mu.Lock()
	defer t.mu.Unlock()
	o = t.calls[key]
	if o == nil {
		return nil, false
	}
	t.remove(key, o)
	return o, o.cancelled
}

// cancel marks a call as cancelled and returns it. It returns nil if the call is not open or cannot be cancelled.
func (t *inflight) cancel(id wire.ID) *openCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.calls[keyOf(id)]
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

// shutDown refuses new calls from now on and returns the open calls that must be answered.
func (t *inflight) shutDown() []*openCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shut = true
	open := make([]*openCall, 0, len(t.calls))
	for _, o := range t.calls {
		if !o.cancelled {
			open = append(open, o)
		}
	}
	return open
}

// each calls f for every open call.
func (t *inflight) each(f func(*openCall)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, o := range t.calls {
		f(o)
	}
}

// takeAll removes and returns the calls that were passed on to the SDK and must still be answered, except subscriptions.
func (t *inflight) takeAll() []*openCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	var open []*openCall
	for key, o := range t.calls {
		if !o.cancelled && o.started.Load() && !o.endless() {
			delete(t.calls, key)
			t.unanswered--
			open = append(open, o)
		}
	}
	return open
}

// hidden is the prefix of ids that replace those of the client. The SDK decodes an id as a float64 or a string and encodes it again,
// so 9007199254740993, 1.5, 1.0 and "\u0041" would change. An id that the SDK preserves is passed on unchanged, because the SDK also
// writes it into notifications of subscriptions. Any other id is replaced by a string that a client cannot send unescaped: NUL and
// the key of the id.
const hidden = "\x00"

// sdkID returns the id that the SDK is given for a call.
func sdkID(id wire.ID) jsonrpc.ID {
	var name any = hidden + keyOf(id)
	if plainID(id) && !bytes.Contains(id, []byte(`\`)) {
		v := id.Value()
		if n, ok := v.Int64(); ok {
			name = float64(n)
		} else {
			name, _ = v.Str()
		}
	}
	known, _ := jsonrpc.MakeID(name) // MakeID accepts every float64 and string
	return known
}

func keyOf(id wire.ID) string { return string(id.AppendKey(nil)) }

// keyOfSDK is keyOf for an id returned by [sdkID].
func keyOfSDK(id jsonrpc.ID) string {
	switch v := id.Raw().(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case string:
		if key, was := strings.CutPrefix(v, hidden); was {
			return key
		}
		return `"` + v
	}
	return ""
}

// spelled returns the id for a key.
func spelled(key string) []byte {
	if text, is := strings.CutPrefix(key, `"`); is {
		return wire.AppendString(nil, text)
	}
	return []byte(key)
}
