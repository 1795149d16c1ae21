package httpgate

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/httpguard"
	"github.com/candor-mcp/candor/wire"
)

// sessionTable holds the sessions of an upstream. Unused sessions are dropped.
type sessionTable struct {
	most int
	mu   sync.Mutex
	byID map[string]*session // guarded by mu
}

// session is an MCP session of a client with the upstream.
type session struct {
	up       *gateway.Upstream
	endpoint *url.URL // message address of a legacy server; nil for others

	mu    sync.Mutex
	used  time.Time              // guarded by mu
	calls map[string]*parkedCall // guarded by mu; open calls that are answered on another connection
	out   *stream                // guarded by mu; newest stream of the client, or nil
	asked map[string]*Exchange   // guarded by mu; calls that are answered on their own connection
}

// parkedCall is a call that will be answered on a stream of its session.
type parkedCall struct {
	call     *gateway.Call
	detached *Exchange // to cancel the call; holds the memory of the request
	deadline deadline
}

// makeSpace drops sessions that were unused for that time if the table is full, and reports whether another session may begin.
func (t *sessionTable) makeSpace(rest time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.byID) < t.most {
		return true
	}
	old := time.Now().Add(-rest)
	for id, s := range t.byID {
		if s.idleSince(old) {
			delete(t.byID, id)
		}
	}
	return len(t.byID) < t.most
}

func (s *session) idleSince(t time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out == nil && len(s.calls) == 0 && len(s.asked) == 0 && s.used.Before(t)
}

// get returns a session, or nil if it is unknown.
func (t *sessionTable) get(id string) *session {
	if id == "" {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byID[id]
}

// note marks a session as used. It creates the session with made if it is unknown. It returns nil if there are
// too many or the id is too long.
func (t *sessionTable) note(id string, made func() *session) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.byID[id]
	if s == nil {
		if len(t.byID) >= t.most || len(id) > gateway.MaxSessionID {
			return nil
		}
		if t.byID == nil {
			t.byID = map[string]*session{}
		}
		s = made()
		t.byID[id] = s
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = time.Now()
	return s
}

func (t *sessionTable) forget(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, id)
}

// noteSession remembers the session that a response names.
func (x *Exchange) noteSession(res *http.Response) {
	if id := res.Header.Get(SessionHeader); id != "" {
		x.Session = id
	}
	if x.Session == "" || res.StatusCode >= 300 {
		return
	}
	if x.call != nil && x.call.Method() == "initialize" {
		x.Handler.up.NoteClient(x.call.Request(), x.Session)
	}
	x.Handler.sessions.note(x.Session, func() *session { return &session{up: x.Handler.up} })
}

// park keeps the call of an exchange open, because its answer will arrive on another connection. It returns false if a call with
// that id is already open or there are too many. Until it is taken, the call counts as open and its request as held memory.
func (s *session) park(x *Exchange, c *gateway.Call) bool {
	c.Commit()
	key := gateway.IDKey(c.ID())
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, twice := s.calls[key]; twice || len(s.calls) >= s.up.Options.Limits.Calls {
		return false
	}
	p := &parkedCall{call: c, detached: x.detached()}
	p.detached.requestMemory, x.requestMemory = x.requestMemory, httpguard.Share{}
	x.Handler.Calls.Add(1)
	p.deadline = newDeadline(c.Timeout(), func() { s.expire(key) })
	if s.calls == nil {
		s.calls = map[string]*parkedCall{}
	}
	s.calls[key] = p
	return true
}

// take removes the call with that id. It returns nil if it is not open.
func (s *session) take(id wire.ID) *gateway.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := gateway.IDKey(id)
	p := s.calls[key]
	if p == nil {
		return nil
	}
	s.remove(key, p)
	return p.call
}

// remove removes a call. The lock must be held.
func (s *session) remove(key string, p *parkedCall) {
	delete(s.calls, key)
	p.deadline.stop()
	p.detached.release()
	p.detached.Handler.Calls.Add(-1)
}

// takeAll removes all open calls.
func (s *session) takeAll() []*gateway.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*gateway.Call, 0, len(s.calls))
	for key, p := range s.calls {
		s.remove(key, p)
		all = append(all, p.call)
	}
	return all
}

// extend restarts the timeout of the calls with that progress token. Some servers report progress on the session's
// stream and answer the call on its own connection.
func (s *session) extend(token wire.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.calls {
		if token.Equal(p.call.ProgressToken()) {
			p.call.NoteProgress()
			p.deadline.extend()
		}
	}
	for _, x := range s.asked {
		if token.Equal(x.call.ProgressToken()) {
			x.call.NoteProgress()
			x.deadline.extend()
		}
	}
}

// expire ends a call that timed out. It answers the client first, then notifies the server.
func (s *session) expire(key string) {
	s.mu.Lock()
	p, out := s.calls[key], s.out
	if p != nil {
		s.remove(key, p)
	}
	s.mu.Unlock()
	if p != nil {
		s.fail(out, p.call, gateway.TimeoutError(p.call))
		p.detached.cancelUpstream(p.call)
	}
}

// fail ends a call with an error on a stream of the client, or without an answer if there is no stream.
func (s *session) fail(out *stream, c *gateway.Call, e *candor.Error) {
	ctx := context.Background()
	if out == nil {
		c.FailSilently(ctx, e, nil)
		return
	}
	out.sendAnswer(c.Fail(ctx, e))
}

func (s *session) attach(out *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out, s.used = out, time.Now()
}

func (s *session) detach(out *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out == out {
		s.out = nil
	}
	s.used = time.Now()
}

// stream returns the newest stream of the client, or nil.
func (s *session) stream() *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out
}
