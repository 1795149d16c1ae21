package meter

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// serverCounts has a counter for each server. Names beyond the limit count as [Other].
type serverCounts struct {
	counts atomic.Pointer[map[string]*atomic.Uint64] // copied on write, so that readers need no lock; nil until the first failure
	grow   sync.Mutex                                // held to replace counts
}

// ServerCount is the number of failures of a server.
type ServerCount struct {
	Server string
	Count  uint64
}

// CountServer counts a failure that was also passed to Count by the server it is from, for a process in front of several
// servers. The first [Options.MaxTools] names get a label; all others count as "other". It does not allocate for a name
// that was seen before.
func (m *Meter) CountServer(name string) {
	if m == nil || name == "" {
		return
	}
	if counts := m.servers.counts.Load(); counts != nil {
		if n, ok := (*counts)[name]; ok {
			n.Add(1)
			return
		}
	}
	m.servers.admit(name, m.options.MaxTools).Add(1)
}

// admit returns the counter of a new name, or that of Other if there are too many.
func (s *serverCounts) admit(name string, limit int) *atomic.Uint64 {
	s.grow.Lock()
	defer s.grow.Unlock()
	counts := map[string]*atomic.Uint64{Other: new(atomic.Uint64)}
	if before := s.counts.Load(); before != nil {
		counts = *before
	}
	if name = Label(name); counts[name] != nil {
		return counts[name]
	}
	if len(counts) > limit {
		return counts[Other]
	}
	counts = maps.Clone(counts)
	counts[name] = new(atomic.Uint64)
	s.counts.Store(&counts)
	return counts[name]
}

// snapshot returns the counts that are not zero, by name.
func (s *serverCounts) snapshot() (rows []ServerCount) {
	counts := s.counts.Load()
	if counts == nil {
		return nil
	}
	for name, n := range *counts {
		if count := n.Load(); count > 0 {
			rows = append(rows, ServerCount{name, count})
		}
	}
	slices.SortFunc(rows, func(a, b ServerCount) int { return cmp.Compare(a.Server, b.Server) })
	return rows
}
