package httpgate

import (
	"errors"
	"net/http"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/wire"
)

// errCancelled is the cause for ending an exchange that the client cancelled.
var errCancelled = errors.New("the client cancelled the call")

// register registers the open call in its session, so that the client can cancel it with a notification. Without a session that
// is impossible, because ids are unique only per client. The returned function removes the call.
func (x *Exchange) register() (leave func()) {
	s := x.Handler.sessions.get(x.Session)
	if s == nil {
		return func() {}
	}
	key := gateway.IDKey(x.call.ID())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked[key] != nil {
		return func() {}
	}
	if s.asked == nil {
		s.asked = map[string]*Exchange{}
	}
	s.asked[key] = x
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.asked, key)
	}
}

// noticeCancel inspects a message from the client that is not a request, and ends a call that it cancels.
func (x *Exchange) noticeCancel(s *session, m *wire.Message) {
	if s == nil || m.Kind() != wire.KindNotification || !m.MethodIs("notifications/cancelled") {
		return
	}
	id := wire.ID(m.Params().Path("requestId").Raw())
	if id == nil {
		return
	}
	s.mu.Lock()
	open, parked := s.asked[gateway.IDKey(id)], s.calls[gateway.IDKey(id)]
	s.mu.Unlock()
	if open != nil && sameCaller(x.Request, open.Request) {
		open.giveUp(errCancelled)
	}
	if parked == nil || !sameCaller(x.Request, parked.detached.Request) {
		return
	}
	if call := s.take(id); call != nil {
		call.Cancelled(x.Context)
	}
}

// sameCaller reports whether two requests have the same credentials. The check is needed because a session id may be guessed, and
// the upstream has not yet verified it.
func sameCaller(a, b *http.Request) bool {
	return a.Header.Get("Authorization") == b.Header.Get("Authorization") && a.Header.Get("Cookie") == b.Header.Get("Cookie")
}

// endCancelled ends the call without an answer. A client that still waits for a status gets an empty stream.
func (x *Exchange) endCancelled() {
	x.call.Cancelled(x.Context)
	if !x.Begun {
		x.BeginEvents()
	}
}
