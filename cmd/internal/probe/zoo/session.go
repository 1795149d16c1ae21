package zoo

import "sync"

// session is what the zoo remembers of one client. All that alternates is counted here, so that every client sees the same.
type session struct {
	mu     sync.Mutex
	counts map[string]int
}

// maxRemembered bounds what a session keeps: the zoo may be shown to hostile clients.
const maxRemembered = 4096

func newSession() *session {
	return &session{counts: map[string]int{}}
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
