package workbench

import (
	"crypto/rand"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// Session is one client's session. Its role and root never change; the system may attach a value.
type Session struct {
	ID    string    `json:"id"`
	Role  string    `json:"role"`
	Root  string    `json:"root"`
	Begun time.Time `json:"begun"`

	mu    sync.Mutex
	value any
	used  time.Time
	calls int // in progress
}

// NewSession returns a session with an unguessable id. [Bench.Keep] stores it.
func NewSession(role, root string, at time.Time) *Session {
	return &Session{ID: NewUUID(), Role: role, Root: root, Begun: at.UTC()}
}

// Value returns the value that the system attached to the session. The first call gets the value from open; if open
// fails, the next call tries again.
func (s *Session) Value(open func() (any, error)) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.value == nil {
		v, err := open()
		if err != nil {
			return nil, err
		}
		s.value = v
	}
	return s.value, nil
}

func (s *Session) acquire(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.used = at
}

func (s *Session) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls--
}

// idle returns when the session was last used, and whether it can be evicted: no call is in progress and its value is not pinned.
func (s *Session) idle() (since time.Time, evictable bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.value.(interface{ Pinned() bool })
	return s.used, s.calls == 0 && (!ok || !v.Pinned())
}

// drop closes and removes the value.
func (s *Session) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if held, ok := s.value.(interface{ Close() error }); ok {
		_ = held.Close() // nothing is lost: the value is saved before each reply
	}
	s.value = nil
}

var uuidShape = lazyregexp.New(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// NewUUID returns a random UUID, version 4.
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

const (
	maxSessions = 256             // in memory
	maxBound    = 4 * maxSessions // connections with a session
)

// sessions holds the sessions of a bench. A session that is not in memory is read from the state, so sessions survive a
// restart.
type sessions struct {
	mu     sync.Mutex
	state  *State
	byID   map[string]*Session
	byConn map[string]*binding
}

// binding is the session of a connection. It holds the id because the session itself may be evicted.
type binding struct {
	id   string
	used time.Time
}

// sessionLife is how long the file of a session is kept.
const sessionLife = 30 * 24 * time.Hour

// prune removes the files of expired sessions. Errors are ignored: the next start tries again.
func (l *sessions) prune() {
	names, err := fs.ReadDir(l.state.Root().FS(), "sessions")
	if err != nil {
		return // no session yet
	}
	for _, name := range names {
		if info, err := name.Info(); err == nil && time.Since(info.ModTime()) > sessionLife {
			_ = l.state.Remove("sessions/" + name.Name())
		}
	}
}

// of returns the session of a call. The call is stray if it names an unknown session, two sessions, or a session other
// than that of its connection: a connection cannot change its session by naming another.
//
// The session is acquired; the caller releases it.
func (l *sessions) of(names []string, conn string) (s *Session, stray bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.byConn[conn]
	switch {
	case own != nil:
		own.used = time.Now()
		names = append(names, own.id)
	case len(names) == 0:
		return nil, false
	}
	for _, name := range names {
		if name != names[0] {
			return nil, true
		}
	}
	if s = l.find(names[0]); s != nil {
		s.acquire(time.Now())
	}
	return s, s == nil
}

// at returns the session of a connection, or nil.
func (l *sessions) at(conn string) *Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own := l.byConn[conn]; own != nil {
		return l.find(own.id)
	}
	return nil
}

// find returns the session with an id, or nil. The caller holds the lock.
func (l *sessions) find(id string) *Session {
	if s := l.byID[id]; s != nil {
		return s
	}
	if !uuidShape.MatchString(id) {
		return nil
	}
	s := new(Session)
	if found, err := l.state.Load("sessions/"+id+".json", s); err != nil || !found || s.ID != id {
		return nil
	}
	if !l.evict() {
		return nil
	}
	l.byID[id] = s
	return s
}

// evict makes space for one more session, if necessary by evicting the least recently used idle one, and reports whether there is space.
// An evicted session is loaded again when a call names it, so a client that begins many sessions does not end those of others.
func (l *sessions) evict() bool {
	if len(l.byID) < maxSessions {
		return true
	}
	oldest, since := "", time.Time{}
	for id, s := range l.byID {
		if used, ok := s.idle(); ok && (oldest == "" || used.Before(since)) {
			oldest, since = id, used
		}
	}
	if oldest == "" {
		return false
	}
	l.forget(oldest)
	return true
}

func (l *sessions) forget(id string) {
	l.byID[id].drop()
	delete(l.byID, id)
}

// begin stores a session and makes it that of a connection.
func (l *sessions) begin(conn string, s *Session, value any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.byConn[conn] != nil:
		return ErrSessionOpen
	case !l.evict():
		return candor.New(candor.CodeTooManySessions, "")
	}
	if err := l.state.Save("sessions/"+s.ID+".json", s); err != nil {
		return err
	}
	s.used, s.value = time.Now(), value
	l.byID[s.ID] = s
	if conn == "" {
		return nil
	}
	if len(l.byConn) >= maxBound {
		oldest := ""
		for conn, b := range l.byConn {
			if oldest == "" || b.used.Before(l.byConn[oldest].used) {
				oldest = conn
			}
		}
		delete(l.byConn, oldest)
	}
	l.byConn[conn] = &binding{s.ID, s.used}
	return nil
}

// end removes a session. Its file may remain, but its id was never sent.
func (l *sessions) end(conn string, s *Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byConn, conn)
	if l.byID[s.ID] != nil {
		l.forget(s.ID)
	}
	_ = l.state.Remove("sessions/" + s.ID + ".json")
}

func (l *sessions) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.byID {
		l.forget(id)
	}
}
