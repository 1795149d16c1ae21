package zoo

import "sync"

// session is the state of one client. Alternating answers are counted per session, so that every client sees the same.
type session struct {
	mu     sync.Mutex
	counts map[string]int
}

// maxRemembered is the maximum number of counters of a session, for hostile clients.
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
