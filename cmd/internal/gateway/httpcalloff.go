package gateway

import (
	"errors"
	"net/http"

	"github.com/candor-mcp/candor/wire"
)

// errCalledOff is why an exchange is given up when the client says that it wants no answer any more.
var errCalledOff = errors.New("the client has called the call off")

// enlist makes the open call known to its session, so that the client can call it off by a message of its own. Without a session
// nobody can: ids are those of a client, and nothing else says whose they are. The returned function ends that.
func (x *httpExchange) enlist() (leave func()) {
	s := x.d.sessions.get(x.session)
	if s == nil {
		return func() {}
	}
	key := idKey(x.call.ID())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked[key] != nil {
		return func() {}
	}
	if s.asked == nil {
		s.asked = map[string]*httpExchange{}
	}
	s.asked[key] = x
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.asked, key)
	}
}

// heedClient looks at a message of the client that asks for nothing, on its way to the upstream: a call that it calls off has its end.
func (x *httpExchange) heedClient(s *httpSession, m *wire.Message) {
	if s == nil || m.Kind() != wire.KindNotification || !m.MethodIs("notifications/cancelled") {
		return
	}
	id := wire.ID(m.Params().Path("requestId").Raw())
	if id == nil {
		return
	}
	s.mu.Lock()
	open, parked := s.asked[idKey(id)], s.calls[idKey(id)]
	s.mu.Unlock()
	if open != nil && sameCaller(x.r, open.r) {
		open.giveUp(errCalledOff)
	}
	if parked == nil || !sameCaller(x.r, parked.aside.r) {
		return
	}
	if call := s.take(id); call != nil {
		call.Cancelled(x.ctx)
	}
}

// sameCaller reports that two requests bear the same credentials: a session may be guessed, and the upstream, which knows whose it is, has
// not been asked yet.
func sameCaller(a, b *http.Request) bool {
	return a.Header.Get("Authorization") == b.Header.Get("Authorization") && a.Header.Get("Cookie") == b.Header.Get("Cookie")
}

// calledOff ends the call in silence. A client that still waits for a status gets a stream on which nothing is said.
func (x *httpExchange) calledOff() {
	x.call.Cancelled(x.ctx)
	if !x.begun {
		x.beginEvents()
	}
}
