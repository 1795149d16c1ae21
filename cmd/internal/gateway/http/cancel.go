package httpgate

import (
	"errors"
	"net/http"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/wire"
)

// errCancelled is why an exchange is given up when the client says that it wants no answer any more.
var errCancelled = errors.New("the client cancelled the call")

// register registers the open call in its session, so that the client can cancel it with a notification. Without a
// session that is impossible, because ids are unique to one client only. The returned function removes the call.
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

// noticeCancel looks at a message of the client that is not a request, on its way to the upstream, and ends a call that
// it cancels.
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

// sameCaller reports that two requests bear the same credentials: a session may be guessed, and the upstream, which knows whose it is, has
// not been asked yet.
func sameCaller(a, b *http.Request) bool {
	return a.Header.Get("Authorization") == b.Header.Get("Authorization") && a.Header.Get("Cookie") == b.Header.Get("Cookie")
}

// calledOff ends the call in silence. A client that still waits for a status gets a stream on which nothing is said.
func (x *Exchange) calledOff() {
	x.call.Cancelled(x.Context)
	if !x.Begun {
		x.BeginEvents()
	}
}
