package boundary

import "sync"

// settled remembers what the middleware has recorded and counted until the layer around the SDK sees it leave, so that
// nothing is settled twice. A key is the ref of an error, or, where a client knows an error by its exact shape and no ref can be
// added, that shape: the same key may be settled many times over.
//
// It is one set for the whole process, because boundaries may be nested, and bounded, because what was settled may never
// leave: the connection may be gone.
var settled = &settledSet{}

const maxSettled = 1 << 16 // keys of one generation

// settledSet keeps two generations of keys, each with how often it was settled and has not left.
type settledSet struct {
	mu       sync.Mutex
	now, old map[string]int
}

func (s *settledSet) add(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil || len(s.now) >= maxSettled {
		s.now, s.old = map[string]int{}, s.now
	}
	s.now[key]++
}

// take reports whether key was settled, and forgets it.
func (s *settledSet) take(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return drop(s.old, key) || drop(s.now, key)
}

func drop(open map[string]int, key string) bool {
	n := open[key]
	switch {
	case n > 1:
		open[key] = n - 1
	case n == 1:
		delete(open, key)
	}
	return n > 0
}
