package bridge

import (
	"bytes"
	"slices"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// Write receives the messages for clients, one per line. It never waits for a client.
func (h *host) Write(p []byte) (int, error) {
	n := len(p)
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			h.cut = append(h.cut, p...)
			return n, nil
		}
		line := p[:end]
		if len(h.cut) > 0 {
			line = append(h.cut, line...)
			h.cut = nil
		}
		h.route(line)
		p = p[end+1:]
	}
}

// route delivers a message from the server to its client. The line is copied.
func (h *host) route(line []byte) {
	m := wire.Parse(line, h.b.up.Options.Limits.Message)
	switch m.Kind() {
	case wire.KindResult, wire.KindError:
		if c := h.take(m.ID()); c != nil {
			c.queue.put(&queuedMessage{bytes: c.restored(line), last: true})
		}
	case wire.KindNotification:
		h.notify(&m)
	case wire.KindRequest:
		h.ask(&m)
	case wire.KindMalformed: // stdio forwards no malformed message
	}
}

// notify delivers a notification from the server.
func (h *host) notify(m *wire.Message) {
	if c, bytes, ok := h.callNamedBy(m); ok {
		if c != nil {
			h.deliver(c, &queuedMessage{bytes: bytes})
		}
		return
	}
	if h.only != nil {
		h.deliver(h.likelyCall(), &queuedMessage{bytes: bytes.Clone(m.Bytes())})
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.sessions {
		h.keep(s.queue, &queuedMessage{bytes: bytes.Clone(m.Bytes())})
	}
}

// keep adds a message to the queue of a session, where it waits for a stream. It returns the messages that were dropped.
func (h *host) keep(outbox *messageQueue, l *queuedMessage) (lost []*queuedMessage) {
	lost = outbox.put(l)
	h.missed.Add(int64(len(lost)))
	return lost
}

// callNamedBy returns the call that a notification refers to, and the notification with the id or token as the client wrote it.
// Ok is false if it refers to no call. The call is nil if it has ended.
func (h *host) callNamedBy(m *wire.Message) (c *call, words []byte, ok bool) {
	path, name := []string{"params", "progressToken"}, m.Params().Path("progressToken").Raw()
	byToken := m.MethodIs("notifications/progress")
	if !byToken {
		path, name = []string{"params", "_meta", subscriptionKey}, m.Params().Path("_meta", subscriptionKey).Raw()
	}
	if name == nil {
		return nil, nil, byToken && h.only == nil
	}
	h.mu.Lock()
	known := h.tokens[gateway.IDKey(name)]
	if !byToken {
		known = h.calls[gateway.IDKey(name)]
	}
	h.mu.Unlock()
	switch {
	case known == nil:
		return nil, nil, h.only == nil // the only client of a server may know the token
	case h.only != nil:
		return known, bytes.Clone(m.Bytes()), true
	}
	theirs := known.token
	if !byToken {
		theirs = known.id
	}
	words, err := splice.SetMember(nil, m.Bytes(), path, theirs)
	return known, words, err == nil
}

// likelyCall returns the call that a message most likely belongs to: the only open one, or the newest if the client has no other
// stream. It returns nil if there is none.
func (h *host) likelyCall() *call {
	listening := h.only.listens()
	h.mu.Lock()
	defer h.mu.Unlock()
	var newest *call
	if len(h.calls) > 1 && listening {
		return nil
	}
	for _, c := range h.calls {
		if c.streams && (newest == nil || c.order > newest.order) {
			newest = c
		}
	}
	return newest
}

// deliver adds a message to the queue of a call, or of its session if the client does not accept streams.
func (h *host) deliver(c *call, l *queuedMessage) {
	switch {
	case c != nil && c.streams:
		h.requeue(c.queue.put(l))
	case h.only != nil:
		h.store(l)
	case c != nil && c.s != nil:
		h.keep(c.s.queue, l)
	}
}

// ask delivers a request from the server. A shared server's request is refused, because it cannot name the client.
func (h *host) ask(m *wire.Message) {
	id := bytes.Clone(m.ID())
	switch {
	case h.only == nil && m.MethodIs("ping"):
		h.respond(func(bool) []byte { return slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"result":{}}`)) })
		return
	case h.only == nil:
		h.refuse(id, candor.CodeMethodNotFound)
		return
	}
	h.deliver(h.likelyCall(), &queuedMessage{bytes: bytes.Clone(m.Bytes()), asks: id})
}

// store adds a message to the queue of the only session. A request waits there for a limited time.
func (h *host) store(l *queuedMessage) {
	for _, lost := range h.keep(h.only.queue, l) {
		if lost.asks != nil {
			h.refuse(lost.asks, candor.CodeTimeout)
		}
	}
	if l.asks != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.await()
	}
}

// await starts the timer for requests that no client reads. One timer serves all requests. The lock must be held.
func (h *host) await() {
	if h.waiting || h.calls == nil {
		return
	}
	h.waiting = true
	time.AfterFunc(h.b.o.ServerRequestTimeout, func() {
		old, left := h.only.queue.expired(time.Now().Add(-h.b.o.ServerRequestTimeout))
		for _, l := range old {
			h.refuse(l.asks, candor.CodeTimeout)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.waiting = false
		if left {
			h.await()
		}
	})
}

// requeue moves messages that a call could not deliver to its session, unless several sessions share the server.
func (h *host) requeue(messages []*queuedMessage) {
	for _, l := range messages {
		switch {
		case l.last: // its client has disconnected
		case h.only != nil:
			h.store(l)
		default:
			h.missed.Add(1)
		}
	}
}
