package bridge

import (
	"bytes"
	"context"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/wire"
)

// host is a server that a bridge has started. It holds the table of the calls that clients wait for.
type host struct {
	b          *Bridge
	server     *stdio.Host
	stop       context.CancelFunc // ends it immediately
	ended      chan struct{}      // closed when the server and all processes that it has started have ended
	busy       sync.RWMutex       // read-locked while a request is forwarded, locked while the host ends
	only       *session           // the only session of the server; nil if several share it
	initAnswer []byte             // answer to the first client's initialize; set before others use the host
	cut        []byte             // incomplete last line; used only by Write
	missed     atomic.Int64       // messages dropped because clients did not read them

	mu       sync.Mutex // guards the fields below
	calls    map[string]*call
	tokens   map[string]*call // calls with progress tokens, by token
	sessions map[*session]bool
	lastID   uint64 // last id that was assigned
	refused  int    // number of requests from the server that were refused
	refusing int    // number of requests that are being refused
	waiting  bool   // a timer is running for requests that no client reads
}

// call is a call that a client waits for on its connection.
type call struct {
	h       *host
	s       *session     // nil if there is no session
	request wire.Message // as sent to the server
	id      wire.ID      // as the client wrote it
	token   []byte       // progress token as the client wrote it, or nil
	queue   *messageQueue
	streams bool // the client accepts events
	order   uint64
}

// host starts a server.
func (b *Bridge) host(only *session) (*host, error) {
	b.mu.Lock()
	closing := b.closing
	if !closing {
		b.work.Add(1) // before Close can wait for it
	}
	b.mu.Unlock()
	if closing {
		return nil, gateway.DrainingError()
	}
	ctx, stop := context.WithCancel(b.ctx)
	h := &host{
		b: b, only: only, stop: stop, ended: make(chan struct{}),
		calls: map[string]*call{}, tokens: map[string]*call{}, sessions: map[*session]bool{},
	}
	var err error
	if h.server, err = stdio.StartHost(ctx, b.up, b.child, h, only == nil); err != nil {
		stop()
		b.work.Done()
		return nil, err
	}
	b.mu.Lock()
	b.hosts[h] = true
	if b.closing {
		h.server.HangUp()
	}
	b.mu.Unlock()
	go func() {
		defer b.work.Done()
		h.server.Run()
		h.over()
	}()
	return h, nil
}

// over removes a server that has ended. Clients that still wait get no answer.
func (h *host) over() {
	h.stop()
	h.busy.Lock()
	h.server.Close()
	h.mu.Lock()
	calls, sessions := h.calls, h.sessions
	h.calls, h.sessions = nil, nil
	h.mu.Unlock()
	h.busy.Unlock()
	for _, c := range calls {
		c.queue.close()
	}
	if missed := h.missed.Load(); missed > 0 {
		h.b.up.Options.Logger.WarnContext(h.b.ctx, "messages dropped: no client read them in time", slog.Int64("messages", missed))
	}
	for s := range sessions {
		h.b.forget(s)
	}
	h.b.mu.Lock()
	delete(h.b.hosts, h)
	h.b.mu.Unlock()
	close(h.ended)
	for s := range sessions {
		s.close()
	}
}

// forward adds a request to the table and sends it to the server. The error is the reason if it cannot be sent.
func (h *host) forward(m *wire.Message, s *session, session string, streams bool, trace gateway.Trace) (*call, *candor.Error) {
	h.busy.RLock()
	defer h.busy.RUnlock()
	c, e := h.open(m, s, streams)
	if e == nil {
		h.server.Request(&c.request, session, trace)
	}
	return c, e
}

// open adds a request to the table, in the form that the server will see.
func (h *host) open(m *wire.Message, s *session, streams bool) (*call, *candor.Error) {
	c := &call{
		h: h, s: s, request: *m, id: m.ID(), token: m.Params().Path("_meta", "progressToken").Raw(),
		queue: newMessageQueue(h.b.o.MaxQueued), streams: streams,
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastID++
	c.order = h.lastID
	if h.only == nil {
		c.request = h.rekeyed(m, h.lastID)
	}
	key := c.key()
	switch {
	case h.calls == nil:
		return nil, h.endError()
	case h.calls[key] != nil:
		return nil, gateway.NewError(candor.CodeDuplicateRequestID)
	case len(h.calls) >= h.b.up.Options.Limits.Calls:
		return nil, gateway.NewError(candor.CodeTooManyCalls, "open", len(h.calls))
	}
	h.calls[key] = c
	if token := c.request.Params().Path("_meta", "progressToken").Raw(); token != nil {
		h.tokens[gateway.IDKey(token)] = c
	}
	return c, nil
}

// endError returns the error for a server that has ended.
func (h *host) endError() *candor.Error {
	if e := h.server.Gone(); e != nil {
		return e
	}
	return gateway.DrainingError()
}

func (c *call) key() string { return gateway.IDKey(c.request.ID()) }

// rekeyed returns a request with a unique id and progress token, because several clients may use the same ones.
func (h *host) rekeyed(m *wire.Message, number uint64) wire.Message {
	ours := strconv.AppendUint(nil, number, 10)
	out := gateway.WithMember(m.Bytes(), ours, "id")
	if m.Params().Path("_meta", "progressToken").Present() {
		out = gateway.WithMember(out, ours, "params", "_meta", "progressToken")
	}
	return wire.Parse(out, h.b.up.Options.Limits.Message)
}

// take removes and returns the call with that id on the server's side, or nil.
func (h *host) take(id wire.ID) *call {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.calls[gateway.IDKey(id)]
	if c != nil {
		h.remove(c)
	}
	return c
}

// remove removes a call from the table. The lock must be held.
func (h *host) remove(c *call) {
	delete(h.calls, c.key())
	if token := c.request.Params().Path("_meta", "progressToken").Raw(); token != nil && h.tokens[gateway.IDKey(token)] == c {
		delete(h.tokens, gateway.IDKey(token))
	}
}

// openCall returns the open call of a session with that id on the client's side, or nil.
func (h *host) openCall(s *session, id wire.ID) *call {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.calls {
		if c.s == s && c.id.Equal(id) {
			return c
		}
	}
	return nil
}

// callsOf returns the open calls of a session.
func (h *host) callsOf(s *session) []*call {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []*call
	for _, c := range h.calls {
		if c.s == s {
			all = append(all, c)
		}
	}
	return all
}

// revoke ends a call before its answer, unless the answer is being written. End returns the answer for the client. If tell is
// set, the server is notified that the call was cancelled.
func (c *call) revoke(tell bool, end func(*gateway.Call) []byte) {
	call, cancel := c.h.server.Take(c.key())
	if call == nil {
		return
	}
	c.h.mu.Lock()
	c.h.remove(c)
	c.h.mu.Unlock()
	if answer := end(call); answer != nil {
		c.queue.put(&queuedMessage{bytes: c.restored(answer), last: true})
	}
	c.queue.close()
	if tell && !c.request.MethodIs("initialize") {
		cancel(c.request.ID(), "the client has gone")
	}
}

// cancelled ends a call that its client cancels.
func (c *call) cancelled(tell bool) {
	c.revoke(tell, func(call *gateway.Call) []byte { call.Cancelled(c.h.server.Context()); return nil })
}

// restored returns an answer with the id that the client wrote.
func (c *call) restored(answer []byte) []byte {
	if c.h.only != nil {
		return bytes.Clone(answer)
	}
	m := wire.Parse(answer, c.h.b.up.Options.Limits.Message)
	out := gateway.WithMember(answer, c.id, "id")
	if m.Result().Path("_meta", subscriptionKey).Present() {
		out = gateway.WithMember(out, c.id, "result", "_meta", subscriptionKey)
	}
	return out
}

const subscriptionKey = "io.modelcontextprotocol/subscriptionId"

// maxRefusing bounds the requests of a server that are refused concurrently. A server that sends more gets no answer to the
// others.
const maxRefusing = 64

// refuse answers a request from the server that no client can answer. Clients do not see it.
func (h *host) refuse(id wire.ID, code candor.Code) {
	h.respond(func(record bool) []byte {
		return h.b.up.RejectQuestion(h.server.Context(), id, h.server.Session(), gateway.NewError(code), record)
	})
}

// respond sends an answer of the gateway to the server in the background, because the server may not read before it has written.
// Only the first answers are recorded, so that a server cannot fill the ledger.
func (h *host) respond(answer func(record bool) []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refusing >= maxRefusing || h.calls == nil {
		return
	}
	h.refusing++
	h.refused++
	record := h.refused <= maxRecordedRefusals
	go func() {
		h.server.Send(answer(record))
		h.mu.Lock()
		defer h.mu.Unlock()
		h.refusing--
	}()
}

// maxRecordedRefusals bounds the refused requests of one server that are recorded.
const maxRecordedRefusals = 1000
