package gateway

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"sync/atomic"

	"github.com/candor-mcp/candor/wire"
)

// Caller identifies callers whose calls may be checked against the same tool list. The zero Caller is unknown: no list is kept
// for it.
type Caller struct {
	Session string
	Digest  [sha256.Size]byte // of all data by which the server can distinguish callers; zero if the session is enough
}

func (c Caller) known() bool { return c != Caller{} }

// ToolCache remembers the tools that each caller has listed. Lists are kept per caller because a server may show different tools
// to different callers: the list of one must not affect the calls of another.
type ToolCache struct {
	mu   sync.RWMutex
	sets map[Caller]*toolSet // guarded by mu
}

// find returns the tools of a caller, or nil if none are known.
func (t *ToolCache) find(who Caller) *toolSet {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.sets[who]
}

// Learn adds a page of tools/list that a caller requested with a cursor, "" for the first page.
func (t *ToolCache) Learn(who Caller, result wire.Value, cursor string) {
	if who.known() {
		toolLists.learn(t.set(who), result, cursor)
	}
}

// set returns the tools of a caller. It creates the set if there is none.
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

// Forget drops all lists, because the server has announced that its tools changed.
func (t *ToolCache) Forget() {
	t.mu.Lock()
	sets := t.sets
	t.sets = nil
	t.mu.Unlock()
	toolLists.drop(sets)
}

// remove removes a set that was dropped.
func (t *ToolCache) remove(s *toolSet) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sets[s.who] == s {
		delete(t.sets, s.who)
	}
}

// toolSet holds the tools that one caller has listed.
type toolSet struct {
	cache *ToolCache
	who   Caller
	list  atomic.Pointer[toolList] // nil until the last page has arrived, and after it was dropped
	used  atomic.Bool              // set when used, cleared when the budget looks for a set to drop

	// guarded by the budget
	place   *list.Element // nil if the set is not in the budget
	partial *toolList     // the pages so far, or nil
	next    string        // the cursor of the next page
	written int           // bytes of these pages as sent
}

// current returns the complete list, or nil if none is known. The set may be nil.
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

// tool returns a tool of the complete list, or nil if it is unknown. The set may be nil.
func (s *toolSet) tool(name string) *tool {
	if l := s.current(); l != nil {
		return l.tools[name]
	}
	return nil
}

// Knows reports whether the complete list of a caller is known.
func (t *ToolCache) Knows(who Caller) bool { return t.find(who).current() != nil }

// HasTools reports whether the call knows the complete list of its caller.
func (c *Call) HasTools() bool { return c.tools.current() != nil }

// FindTools looks up the tools that the caller has listed, for this call.
func (c *Call) FindTools(cache *ToolCache, who Caller) { c.tools = cache.find(who) }
