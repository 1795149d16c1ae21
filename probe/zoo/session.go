package zoo

import (
	"sync"

	"github.com/candor-mcp/candor/wire"
)

// session is what the zoo remembers of one client. All that alternates is counted here, so that every client sees the same.
type session struct {
	mu     sync.Mutex
	counts map[string]int
	open   map[string]chan struct{} // calls that wait, by id; closed when the client calls them off
}

// maxRemembered bounds what a session keeps: the zoo may be shown to hostile clients.
const maxRemembered = 4096

func newSession() *session {
	return &session{counts: map[string]int{}, open: map[string]chan struct{}{}}
}

// next counts, from 1.
func (s *session) next(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.counts[what]; !known && len(s.counts) >= maxRemembered {
		return 1
	}
	s.counts[what]++
	return s.counts[what]
}

// wait notes a call that waits. The channel is closed when it is called off; done forgets it.
func (s *session) wait(id wire.ID) (off <-chan struct{}, done func()) {
	key := string(id.AppendKey(nil))
	c := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= maxRemembered {
		return c, func() {}
	}
	s.open[key] = c
	return c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[key] == c {
			delete(s.open, key)
		}
	}
}

// callOff tells a call that waits that nobody wants its answer any more.
func (s *session) callOff(id wire.ID) {
	key := string(id.AppendKey(nil))
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.open[key]; ok {
		close(c)
		delete(s.open, key)
	}
}
