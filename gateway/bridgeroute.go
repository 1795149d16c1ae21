package gateway

import (
	"bytes"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// Write takes what the pump has for clients, one message a line. It never waits for any of them.
func (h *bridgeHost) Write(p []byte) (int, error) {
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

// route finds out whom a message is for. It is copied.
func (h *bridgeHost) route(line []byte) {
	m := wire.Parse(line, h.b.up.o.Limits.Message)
	switch m.Kind() {
	case wire.KindResult, wire.KindError:
		if c := h.take(m.ID()); c != nil {
			c.inbox.put(&letter{bytes: c.home(line), last: true})
		}
	case wire.KindNotification:
		h.tell(&m)
	case wire.KindRequest:
		h.ask(&m)
	}
}

// tell delivers a notification of the server.
func (h *bridgeHost) tell(m *wire.Message) {
	if c, bytes, ok := h.concerned(m); ok {
		if c != nil {
			h.deliver(c, &letter{bytes: bytes})
		}
		return
	}
	if h.only != nil {
		h.deliver(h.likely(), &letter{bytes: bytes.Clone(m.Bytes())})
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.sessions {
		s.outbox.put(&letter{bytes: bytes.Clone(m.Bytes())})
	}
}

// concerned returns the call that a notification names, and the words in which its client knows it. It is not ok if none is
// named; the call is nil if it is over, and then nobody is concerned.
func (h *bridgeHost) concerned(m *wire.Message) (c *bridgeCall, words []byte, ok bool) {
	path, name := []string{"params", "progressToken"}, m.Params().Path("progressToken").Raw()
	byToken := m.MethodIs("notifications/progress")
	if !byToken {
		path, name = []string{"params", "_meta", subscriptionKey}, m.Params().Path("_meta", subscriptionKey).Raw()
	}
	if name == nil {
		return nil, nil, byToken && h.only == nil
	}
	h.mu.Lock()
	known := h.tokens[idKey(name)]
	if !byToken {
		known = h.calls[idKey(name)]
	}
	h.mu.Unlock()
	switch {
	case known == nil:
		return nil, nil, h.only == nil // a client that has the server for itself may know what it means
	case h.only != nil:
		return known, bytes.Clone(m.Bytes()), true
	}
	theirs := known.token
	if !byToken {
		theirs = known.id
	}
	words, err := wire.SetMember(nil, m.Bytes(), path, theirs)
	return known, words, err == nil
}

// likely is the call that a message without a name belongs to, as far as anybody can know: the only one that is open, or the
// newest if the client listens nowhere else. It is nil if it belongs to none.
func (h *bridgeHost) likely() *bridgeCall {
	listening := h.only.listens()
	h.mu.Lock()
	defer h.mu.Unlock()
	var newest *bridgeCall
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

// deliver puts a letter into the mailbox of a call, or of its session if the call takes none.
func (h *bridgeHost) deliver(c *bridgeCall, l *letter) {
	box := (*mailbox)(nil)
	switch {
	case c != nil && c.streams:
		box = c.inbox
	case h.only != nil:
		box = h.only.outbox
	case c != nil && c.s != nil:
		box = c.s.outbox
	default:
		return
	}
	h.unheard(box, box.put(l))
}

// ask delivers a question of the server. If several clients share it nobody knows whom it means.
func (h *bridgeHost) ask(m *wire.Message) {
	if h.only == nil {
		h.refuse(m.ID().Clone(), candor.CodeMethodNotFound)
		return
	}
	l := &letter{bytes: bytes.Clone(m.Bytes()), asks: m.ID().Clone()}
	h.deliver(h.likely(), l)
	h.await(l)
}

// await refuses a question that still waits in the session's mailbox when its time is over.
func (h *bridgeHost) await(l *letter) {
	time.AfterFunc(h.b.o.Unheard, func() {
		if h.only.outbox.withdraw(l) {
			h.refuse(l.asks, candor.CodeTimeout)
		}
	})
}

// unheard sees to letters that a mailbox could not keep: news are lost, and questions refused. Those that a call has left behind
// go to the session.
func (h *bridgeHost) unheard(box *mailbox, letters []*letter) {
	for _, l := range letters {
		switch {
		case l.last:
		case h.only != nil && box != h.only.outbox:
			h.unheard(h.only.outbox, h.only.outbox.put(l))
			if l.asks != nil {
				h.await(l)
			}
		case l.asks != nil:
			h.refuse(l.asks, candor.CodeTimeout)
		}
	}
}
