package bridge

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/wire"
)

// session is a session that a client began with initialize.
type session struct {
	b     *Bridge
	id    string // random
	host  *host
	queue *messageQueue // messages that belong to no call, for the stream that the client opens by GET
	ended chan struct{} // closed when the session and, if it is not shared, its server have ended
	close func()        // closes ended once

	mu       sync.Mutex // guards the fields below
	used     time.Time
	busy     int           // number of requests that are being served
	listener chan struct{} // closed when another stream replaces the newest one; nil if there is no stream
}

// newSession returns a new session, or nil if there are too many.
func (b *Bridge) newSession() *session {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sessionCount >= b.o.HTTP.Sessions {
		return nil
	}
	b.sessionCount++
	s := &session{b: b, id: rand.Text(), queue: newMessageQueue(b.o.MaxQueued), ended: make(chan struct{}), used: b.up.Options.Now()}
	s.close = sync.OnceFunc(func() {
		b.mu.Lock()
		b.sessionCount--
		b.mu.Unlock()
		s.queue.close()
		close(s.ended)
	})
	return s
}

// session returns a session by its id, or nil.
func (b *Bridge) session(id string) *session {
	if id == "" {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sessions[id]
}

// join adds the session to the host's table, so that it gets the server's notifications. It returns false if the server has
// ended.
func (s *session) join(h *host) bool {
	s.host = h
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions == nil {
		return false
	}
	h.sessions[s] = true
	return true
}

func (b *Bridge) remember(s *session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sessions[s.id] = s
}

func (b *Bridge) forget(s *session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.sessions, s.id)
}

// finish ends a session: its open calls are cancelled, and its server is stopped unless it is shared.
func (b *Bridge) finish(s *session) {
	b.forget(s)
	h := s.host
	for _, c := range h.callsOf(s) {
		c.cancelled(h.only == nil)
	}
	if h.only != nil {
		h.stop() // the session ends with its server
		return
	}
	h.mu.Lock()
	delete(h.sessions, s)
	h.mu.Unlock()
	s.close()
}

// begin notes that a request is being served, and done that it has ended.
func (s *session) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy++
}

func (s *session) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	s.used = s.b.up.Options.Now()
}

func (s *session) listens() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listener != nil
}

func (s *session) idleSince(t time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy == 0 && s.used.Before(t)
}

// sweepLoop periodically ends unused sessions and servers, until the bridge is closed.
func (b *Bridge) sweepLoop() {
	tick := time.NewTicker(min(b.o.HTTP.SessionIdleTimeout/4+1, time.Minute))
	defer tick.Stop()
	for {
		select {
		case <-b.ctx.Done():
			return
		case <-tick.C:
			b.sweep()
		}
	}
}

// sweep ends sessions that were not used for [httpgate.Options.SessionIdleTimeout], and servers without sessions.
func (b *Bridge) sweep() {
	old := b.up.Options.Now().Add(-b.o.HTTP.SessionIdleTimeout)
	b.mu.Lock()
	all := slices.Collect(maps.Values(b.sessions))
	b.mu.Unlock()
	for _, s := range all {
		if s.idleSince(old) {
			b.up.Options.Logger.InfoContext(b.ctx, "ended an unused session")
			b.finish(s)
		}
	}
	b.stateless.stopIdle(old)
	b.shared.stopIdle(old)
}

// beginSession starts a session with initialize. The client gets its id if the server accepts.
func (x *exchange) beginSession(m *wire.Message) {
	s := x.b.newSession()
	if s == nil {
		x.RejectTooMany(m, candor.CodeTooManySessions)
		return
	}
	x.Session = s.id
	if x.b.o.Shared {
		x.joinSession(s, m)
		return
	}
	h, err := x.b.host(s)
	if err != nil {
		s.close()
		x.failToStart(m, err)
		return
	}
	if !s.join(h) {
		s.close()
		x.fail(m, h.endError())
		return
	}
	x.b.remember(s) // before the answer, so that the session is known when the client has read it
	c, e := h.forward(m, s, s.id, false, gateway.Trace{})
	if e != nil {
		x.fail(m, e)
	}
	if e != nil || x.deliverInitialize(c) != wire.KindResult {
		x.b.finish(s)
	}
}

// deliverInitialize delivers the answer to initialize, with the id of the session if it is a success.
func (x *exchange) deliverInitialize(c *call) wire.Kind {
	answer := x.last(c)
	if answer == nil {
		return wire.KindMalformed
	}
	m := wire.Parse(answer, x.b.up.Options.Limits.Message)
	if m.Kind() == wire.KindResult {
		x.Writer.Header().Set(httpgate.SessionHeader, x.Session)
	}
	x.Respond(http.StatusOK, answer)
	return m.Kind()
}

// failToStart answers a client if no server could be started. Details of the command are only logged.
func (x *exchange) failToStart(m *wire.Message, err error) {
	if e, ok := errors.AsType[*candor.Error](err); ok {
		x.fail(m, e)
		return
	}
	if errors.Is(err, context.Canceled) {
		return // the client has disconnected
	}
	x.b.up.Options.Logger.ErrorContext(x.Context, "a server could not be started", slog.Any("error", err))
	reason := "the server could not be started"
	if start, ok := errors.AsType[*stdio.StartError](err); ok {
		reason += ": " + start.Hint
	}
	x.fail(m, gateway.NewError(candor.CodeUpstreamUnreachable, "reason", reason))
}
