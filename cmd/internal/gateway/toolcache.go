package gateway

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"sync/atomic"

	"github.com/candor-mcp/candor/wire"
)

// Caller identifies those whose calls may be held against the same tool list. The zero caller is unknown: no list is kept for it.
type Caller struct {
	Session string
	Digest  [sha256.Size]byte // of all by which the server can distinguish callers; zero if the session is enough
}

func (c Caller) known() bool { return c != Caller{} }

// ToolCache remembers the tools that each caller has listed. Lists are kept per caller because a server may show different tools to
// different callers: the list of one must neither refuse nor repeat a call of another.
type ToolCache struct {
	mu   sync.RWMutex
	sets map[Caller]*toolSet // guarded by mu
}

// find returns the tools of a caller, nil if none are known.
func (t *ToolCache) find(who Caller) *toolSet {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.sets[who]
}

// Learn takes the page of tools/list that a caller has asked for with a cursor, "" for the first.
func (t *ToolCache) Learn(who Caller, result wire.Value, cursor string) {
	if who.known() {
		toolLists.learn(t.set(who), result, cursor)
	}
}

// set returns the tools of a caller, which are made if there are none.
func (t *ToolCache) set(who Caller) *toolSet {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sets[who]
	if s == nil {
		if t.sets == nil {
			t.sets = map[Caller]*toolSet{}
		}
		s = &toolSet{cache: t, who: who}
		t.sets[who] = s
	}
	return s
}

// Forget drops all lists, because the server says that its tools have changed.
func (t *ToolCache) Forget() {
	t.mu.Lock()
	sets := t.sets
	t.sets = nil
	t.mu.Unlock()
	toolLists.drop(sets)
}

// remove takes out a set that was dropped.
func (t *ToolCache) remove(s *toolSet) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sets[s.who] == s {
		delete(t.sets, s.who)
	}
}

// toolSet is what one caller was sent of the tools.
type toolSet struct {
	cache *ToolCache
	who   Caller
	list  atomic.Pointer[toolList] // nil until the last page has come, and after it was dropped
	used  atomic.Bool              // since the budget last looked for a set to drop

	// guarded by the budget
	place   *list.Element // nil if the budget does not hold the set
	partial *toolList     // the pages so far, nil if there are none
	next    string        // the cursor of the page that follows them
	written int           // bytes of them as they are written
}

// current returns the complete list, nil if none is known. The set may be nil.
func (s *toolSet) current() *toolList {
	if s == nil {
		return nil
	}
	l := s.list.Load()
	if l != nil && !s.used.Load() {
		s.used.Store(true)
	}
	return l
}

// tool returns a tool of the complete list, nil if it is not known. The set may be nil.
func (s *toolSet) tool(name string) *tool {
	if l := s.current(); l != nil {
		return l.tools[name]
	}
	return nil
}

// Knows reports that the complete list of a caller is known.
func (t *ToolCache) Knows(who Caller) bool { return t.find(who).current() != nil }

// HasTools reports that the tools of the caller are known to the call.
func (c *Call) HasTools() bool { return c.tools.current() != nil }

// FindTools gives the call the tools that its caller was sent.
func (c *Call) FindTools(cache *ToolCache, who Caller) { c.tools = cache.find(who) }
