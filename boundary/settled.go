package boundary

import "sync"

// settled remembers what the middleware has recorded and counted until the layer around the SDK sees it leave, so that
// nothing is settled twice. A key is the ref of an error, or, where a client knows an error by its exact shape and no ref can be
// added, that shape.
//
// It is one set for the whole process, because boundaries may be nested, and bounded, because what was settled may never
// leave: the connection may be gone.
var settled = &settledSet{open: map[string]int{}}

const maxSettled = 1 << 16

type settledSet struct {
	mu   sync.Mutex
	open map[string]int
	ring []string // the keys in the order they came, to forget the oldest
	next int
}

func (s *settledSet) add(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[key]++
	if len(s.ring) < maxSettled {
		s.ring = append(s.ring, key)
		return
	}
	s.drop(s.ring[s.next])
	s.ring[s.next] = key
	s.next = (s.next + 1) % maxSettled
}

// take reports whether key was settled, and forgets it.
func (s *settledSet) take(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drop(key)
}

func (s *settledSet) drop(key string) bool {
	n := s.open[key]
	switch {
	case n > 1:
		s.open[key] = n - 1
	case n == 1:
		delete(s.open, key)
	}
	return n > 0
}
