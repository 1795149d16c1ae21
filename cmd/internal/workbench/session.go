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

// Session is the standing of one caller. Its role and its root never change; its system may keep something with it.
type Session struct {
	ID    string    `json:"id"`
	Role  string    `json:"role"`
	Root  string    `json:"root"`
	Begun time.Time `json:"begun"`

	mu    sync.Mutex
	value any
	used  time.Time
	calls int // that are on their way
}

// NewSession returns a session with an id that nobody can guess. It is kept once [Bench.Keep] has been told of it.
func NewSession(role, root string, at time.Time) *Session {
	return &Session{ID: newUUID(), Role: role, Root: root, Begun: at.UTC()}
}

// Value returns what the system keeps with the session, made by open when it is first wanted. An error of open is returned, and open
// is tried again next time.
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

// idle returns when the session was last used, and whether it may leave the memory: no call is on its way, and what its system keeps with
// it does not say that it is kept nowhere else.
func (s *Session) idle() (since time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held, can := s.value.(interface{ Pinned() bool })
	return s.used, s.calls == 0 && (!can || !held.Pinned())
}

// drop gives back what the system kept with it.
func (s *Session) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if held, ok := s.value.(interface{ Close() error }); ok {
		_ = held.Close() // it was only read from, or was closed by its own account
	}
	s.value = nil
}

var uuidShape = lazyregexp.New(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// newUUID returns a random UUID, version 4.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

const (
	maxSessions = 256             // that are in memory at a time
	maxBound    = 4 * maxSessions // connections that are remembered
)

// sessions knows the live ones. A session that is not in memory is read from the state, so that it outlives the process.
type sessions struct {
	mu      sync.Mutex
	state   *State
	now     func() time.Time
	byID    map[string]*Session
	byPlace map[string]*binding // the connection's
}

// binding is the session of a connection. It is known by its name, so that a session which has left the memory is found again.
type binding struct {
	id   string
	used time.Time
}

// sessionLife is how long the file of a session is kept after it was begun.
const sessionLife = 30 * 24 * time.Hour

// prune removes what nobody will come back for. What cannot be removed now is removed another time.
func (l *sessions) prune() {
	names, err := fs.ReadDir(l.state.Root().FS(), "sessions")
	if err != nil {
		return // there is none yet
	}
	for _, name := range names {
		if info, err := name.Info(); err == nil && l.now().Sub(info.ModTime()) > sessionLife {
			_ = l.state.Remove("sessions/" + name.Name())
		}
	}
}

// of returns the session of a call. One that names two, or another than its connection has, is stray: nobody should have to guess which
// was meant, and a connection does not become somebody else by a word.
//
// The session is acquired, so that it does not leave the memory before the caller has released it.
func (l *sessions) of(names []string, place string) (s *Session, stray bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.byPlace[place]
	switch {
	case own != nil:
		own.used = l.now()
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
		s.acquire(l.now())
	}
	return s, s == nil
}

// at returns the session of a connection, nil if it has none.
func (l *sessions) at(place string) *Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own := l.byPlace[place]; own != nil {
		return l.find(own.id)
	}
	return nil
}

// find returns the session of this name; nil if there is none. The caller holds the lock.
func (l *sessions) find(named string) *Session {
	if s := l.byID[named]; s != nil {
		return s
	}
	if !uuidShape.MatchString(named) {
		return nil
	}
	s := new(Session)
	if found, err := l.state.Load("sessions/"+named+".json", s); err != nil || !found || s.ID != named {
		return nil
	}
	if !l.room() {
		return nil
	}
	l.byID[named] = s
	return s
}

// room makes room for one more if it can: the one that was not used for longest leaves the memory, and comes back when it is named.
// Nobody is locked out by who begins many.
func (l *sessions) room() bool {
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

// keep makes a session durable and known.
func (l *sessions) keep(s *Session) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.room() {
		return candor.New(candor.CodeTooManySessions, "")
	}
	if err := l.state.Save("sessions/"+s.ID+".json", s); err != nil {
		return err
	}
	s.used = l.now()
	l.byID[s.ID] = s
	return nil
}

// bind makes a session that of a connection. It is late if the connection has one.
func (l *sessions) bind(place string, s *Session) (bound, late bool) {
	if place == "" {
		return false, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byPlace[place] != nil {
		return false, true
	}
	if len(l.byPlace) >= maxBound {
		oldest := ""
		for place, b := range l.byPlace {
			if oldest == "" || b.used.Before(l.byPlace[oldest].used) {
				oldest = place
			}
		}
		delete(l.byPlace, oldest)
	}
	l.byPlace[place] = &binding{s.ID, l.now()}
	return true, false
}

// unbind takes the session of a connection away.
func (l *sessions) unbind(place string, s *Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own := l.byPlace[place]; own != nil && own.id == s.ID {
		delete(l.byPlace, place)
	}
}

func (l *sessions) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.byID {
		l.forget(id)
	}
}

// discard ends a session that nobody has used.
func (l *sessions) discard(s *Session) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byID[s.ID] != nil {
		l.forget(s.ID)
	}
	return l.state.Remove("sessions/" + s.ID + ".json")
}
