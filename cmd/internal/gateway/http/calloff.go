package httpgate

import (
	"errors"
	"net/http"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/wire"
)

// errCalledOff is why an exchange is given up when the client says that it wants no answer any more.
var errCalledOff = errors.New("the client has called the call off")

// enlist makes the open call known to its session, so that the client can call it off by a message of its own. Without a session
// nobody can: ids are those of a client, and nothing else says whose they are. The returned function ends that.
func (x *Exchange) enlist() (leave func()) {
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

// heedClient looks at a message of the client that asks for nothing, on its way to the upstream: a call that it calls off has its end.
func (x *Exchange) heedClient(s *session, m *wire.Message) {
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
		open.giveUp(errCalledOff)
	}
	if parked == nil || !sameCaller(x.Request, parked.aside.Request) {
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
