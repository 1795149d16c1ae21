package bridge

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/wire"
)

// inSession forwards a message of a session to its server.
func (x *exchange) inSession(m *wire.Message) {
	s := x.b.session(x.Session)
	if s == nil {
		x.refuse(m, http.StatusNotFound, gateway.NewError(common.SessionNotFound))
		return
	}
	s.begin()
	defer s.done()
	switch m.Kind() {
	case wire.KindRequest:
		x.ask(s.host, s, m)
	case wire.KindNotification:
		s.notify(m)
		x.Respond(http.StatusAccepted, nil)
	default:
		if s.host.only != nil {
			s.host.server.Send(m.Bytes())
		}
		x.Respond(http.StatusAccepted, nil)
	}
}

// notify forwards a notification. A shared server only gets cancellations.
func (s *session) notify(m *wire.Message) {
	h := s.host
	if m.MethodIs("notifications/cancelled") {
		if c := h.openCall(s, m.Params().Path("requestId").Raw()); c != nil {
			c.cancelled(h.only == nil)
		}
	}
	if h.only != nil {
		h.server.Notify(m)
	}
}

// ask forwards a request and delivers its answer, and the messages from the server before it.
func (x *exchange) ask(h *host, s *session, m *wire.Message) {
	if !x.CountCall(m) {
		return
	}
	defer x.Handler.Calls.Add(-1)
	if s != nil && m.MethodIs("initialize") {
		x.refuse(m, http.StatusBadRequest, gateway.NewError(candor.CodeInvalidRequest, "reason", "the session is initialized"))
		return
	}
	c, e := h.forward(m, s, x.Session, takesEvents(x.Request.Header), x.b.up.TraceOf(x.Request.Header))
	if e != nil {
		x.fail(m, e)
		return
	}
	if answer := x.last(c); answer != nil {
		x.deliverLast(c, answer)
	} else if !x.Begun {
		x.BeginEvents() // an empty stream: the call was cancelled and has no answer
	}
}

// takesEvents reports whether a client accepts an answer as an event stream.
func takesEvents(h http.Header) bool {
	said := strings.Join(h["Accept"], ",")
	return strings.Contains(said, "text/event-stream") || strings.Contains(said, "*/*")
}

// last waits for the answer to a call, and forwards the messages before it. It returns nil if there will be no answer.
func (x *exchange) last(c *call) []byte {
	gone := x.Request.Context().Done()
	for {
		select {
		case <-c.queue.ready:
		case <-gone:
			if x.leave(c) {
				return nil
			}
			gone = nil // the answer is being written
		}
		messages, open := c.queue.take()
		for i, l := range messages {
			if l.last {
				c.queue.close()
				return l.bytes
			}
			if !x.Begun {
				x.BeginEvents()
			}
			if err := x.SendEvent("message", l.bytes); err != nil {
				c.h.requeue(messages[i:])
				break
			}
		}
		if !open {
			return nil
		}
	}
}

// leave handles a call after its client has disconnected, or when its connection ends because the gateway shuts down. It reports whether
// there is nothing left to send. A client of a version with sessions may only have lost its connection, so its call continues.
func (x *exchange) leave(c *call) bool {
	if errors.Is(context.Cause(x.Request.Context()), gateway.ErrDraining) {
		c.revoke(true, func(call *gateway.Call) []byte {
			return call.Fail(context.WithoutCancel(x.Context), call.InterruptedError())
		})
		return false
	}
	if c.s == nil {
		c.cancelled(true)
	} else if call := c.h.server.Open(c.key()); call != nil {
		call.SetClientGone()
	}
	c.queue.close()
	messages, _ := c.queue.take()
	c.h.requeue(messages)
	return true
}

// deliverLast sends the answer to a call as an event or as a whole response.
func (x *exchange) deliverLast(c *call, answer []byte) {
	if x.Begun {
		_ = x.SendEvent("message", answer) // the client may have disconnected
		return
	}
	status := http.StatusOK
	if c.s == nil {
		status = statelessStatus(answer, x.b.up.Options.Limits.Message)
	}
	x.Respond(status, answer)
}

// Listen serves the stream that a client opens for messages that belong to no call. The newest stream of a session replaces the
// others.
func (x *exchange) Listen() {
	s := x.b.session(x.Session)
	switch {
	case x.Session == "":
		x.Reject(http.StatusMethodNotAllowed, candor.CodeMethodNotAllowed)
		return
	case s == nil:
		x.Reject(http.StatusNotFound, common.SessionNotFound)
		return
	case !x.CountStream():
		return
	}
	defer x.Handler.Streams.Add(-1)
	s.begin()
	defer s.done()
	replaced := s.attach()
	defer s.detach(replaced)
	x.BeginEvents()
	for {
		select {
		case <-s.queue.ready:
		case <-replaced:
			return
		case <-s.ended:
			return
		case <-x.Request.Context().Done():
			return
		}
		messages := s.collect(replaced)
		for i, l := range messages {
			if err := x.SendEvent("message", l.bytes); err != nil {
				s.host.requeue(messages[i:])
				return
			}
		}
	}
}

// collect returns the messages in the queue, unless another stream has replaced this one.
func (s *session) collect(replaced chan struct{}) []*queuedMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener != replaced {
		s.queue.wake() // for the other stream
		return nil
	}
	messages, _ := s.queue.take()
	return messages
}

// attach makes a stream the current one of the session. The returned channel is closed when another stream replaces it.
func (s *session) attach() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener != nil {
		close(s.listener)
	}
	s.listener = make(chan struct{})
	s.queue.wake()
	return s.listener
}

func (s *session) detach(own chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener == own {
		s.listener = nil
	}
}
