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
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// maxInFlight bounds the calls of one stream that wait for an answer, most of them in the queue. The SDK itself has no bound.
const maxInFlight = 10_000

// openCall is a request that has no answer yet. Only started and, under the lock of the table, cancelled change.
type openCall struct {
	id        wire.ID    // as the client wrote it
	sdk       jsonrpc.ID // as the SDK knows it
	method    string
	params    json.RawMessage // the SDK holds them as long as we do
	cancelled bool            // the client has called it off and must not be answered
	started   atomic.Bool     // it was passed on to the SDK; until then it waits in the queue
	ticket    ticket          // of the gate, from the start until the answer is written
	place     place           // of its params
	queued    time.Time       // when it began to wait in the queue

	recorded recorded // by the middleware

	conn  *streamConn
	extra mcp.RequestExtra // identifies the call inside the SDK
}

// endless reports a call that is answered only when somebody ends it.
func (o *openCall) endless() bool { return o.method == "subscriptions/listen" }

// maxMethodName bounds what is told of a method that nobody knows.
const maxMethodName = 128

func (o *openCall) exchange() exchange {
	x := exchange{method: contract.Bound(o.method, maxMethodName), params: o.params}
	if o.method == "tools/call" {
		if v, err := wire.ParseValue(o.params, streamLimits(0)); err == nil {
			x.tool, _ = v.Path("name").Str()
		}
	}
	return x
}

// inflight is the table of the open calls of one stream.
type inflight struct {
	mu    sync.Mutex
	calls map[string]*openCall // by the key of the client's id
	owed  int                  // how many of them are not cancelled
	shut  bool                 // no new calls
	// fewer is told, if anybody listens, that there is less to wait for.
	fewer chan struct{}
}

func newInflight() *inflight {
	return &inflight{calls: map[string]*openCall{}, fewer: make(chan struct{}, 1)}
}

// open enters a call, or returns why it cannot be.
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
	t.owed++
	return nil
}

// start marks a call as passed on to the SDK. It reports false if the call was cancelled while it waited.
func (t *inflight) start(o *openCall) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calls[keyOf(o.id)] != o {
		return false
	}
	o.started.Store(true)
	return true
}

// drop removes a call that waits in the queue. It reports false if the call has started, or was dropped before.
func (t *inflight) drop(o *openCall) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := keyOf(o.id)
	if o.started.Load() || t.calls[key] != o {
		return false
	}
	delete(t.calls, key)
	if !o.cancelled {
		t.owed--
	}
	t.tell()
	return true
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
	delete(t.calls, key)
	if !o.cancelled {
		t.owed--
	}
	t.tell()
	return o, o.cancelled
}

// cancel marks a call as called off and returns it; nil if there is none that can be.
func (t *inflight) cancel(id wire.ID) *openCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.calls[keyOf(id)]
	if o == nil || o.cancelled || o.method == "initialize" {
		return nil
	}
	o.cancelled = true
	t.owed--
	t.tell()
	return o
}

func (t *inflight) tell() {
	select {
	case t.fewer <- struct{}{}:
	default:
	}
}

// left returns how many calls are to be answered, and how many are open at all.
func (t *inflight) left() (owed, open int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.owed, len(t.calls)
}

// shutDown lets no new calls in and returns those that are to be answered.
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

// takeAll removes the calls that have been passed on and are still to be answered, and returns them.
func (t *inflight) takeAll() []*openCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	var open []*openCall
	for key, o := range t.calls {
		if !o.cancelled && o.started.Load() && !o.endless() {
			delete(t.calls, key)
			t.owed--
			open = append(open, o)
		}
	}
	return open
}

// The SDK reads an id as a float64 or a string and writes it anew: 9007199254740993, 1.5, 1.0 and "\u0041" would come
// back as something else. An id that it keeps passes as it is, because the SDK also writes it into notifications of
// subscriptions. Any other is replaced by a string that no client can send unescaped: NUL and the key of the id.
const hidden = "\x00"

// sdkID returns the id under which the SDK is to know a call.
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
	known, _ := jsonrpc.MakeID(name) // of a float64 or a string it always can
	return known
}

func keyOf(id wire.ID) string { return string(id.AppendKey(nil)) }

// keyOfSDK is keyOf for the id that [sdkID] gave.
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

// spelled writes an id from its key.
func spelled(key string) []byte {
	if text, is := strings.CutPrefix(key, `"`); is {
		return wire.AppendString(nil, text)
	}
	return []byte(key)
}
