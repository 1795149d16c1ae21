package gateway

import (
	"container/list"
	"crypto/sha256"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/schema"
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
	element *list.Element // nil if the set is not in the budget
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

// tool holds the parts of a tool's description that the gateway uses. Its schema is compiled when the tool is first called.
type tool struct {
	promises bool // it has an outputSchema
	readOnly bool
	retired  bool   // its description says that it is deprecated
	again    bool   // idempotent: a second call has no further effect
	input    string // text of inputSchema; "" if it is missing or too large

	compiled atomic.Pointer[schema.Entry]
	parsed   atomic.Pointer[wire.Value] // input, parsed on the first failure that needs it
}

// schemaValue returns the input schema as a value, or the absent value if there is no usable schema.
func (t *tool) schemaValue() wire.Value {
	if v := t.parsed.Load(); v != nil {
		return *v
	}
	v, err := wire.ParseValue([]byte(t.input), wire.Limits{})
	if err != nil {
		v = wire.Value{}
	}
	t.parsed.Store(&v)
	return v
}

// schemas caches compiled schemas of all upstreams, with one common bound.
var schemas schema.Cache

// maxInputSchema bounds the schemas that are compiled. Arguments are not checked against a larger one.
const maxInputSchema = 256 << 10

// schema returns the compiled input schema, or nil if the tool has no usable one. Ready is false if it must be compiled first.
func (t *tool) schema() (s *schema.Schema, ready bool) {
	if t.input == "" {
		return nil, true
	}
	if entry := t.compiled.Load(); entry != nil {
		return entry.Schema()
	}
	return nil, false
}

// Bounds on one list. A larger list is dropped entirely, because with part of it, calls of existing tools would be refused.
const (
	maxTools     = 10_000
	maxToolBytes = 16 << 20 // size of the list as sent
)

// toolList is a complete list of tools. It is immutable and shared by all callers that were sent the same bytes.
type toolList struct {
	digest [sha256.Size]byte
	tools  map[string]*tool
	bytes  int // memory, as counted by a listBudget

	holders int // toolSets that refer to it, guarded by the budget
}

// names returns the names of the tools that can be suggested: those that are not deprecated, or all if every tool is.
func (l *toolList) names() []string {
	names, retired := make([]string, 0, len(l.tools)), []string(nil)
	for name, t := range l.tools {
		if t.retired {
			retired = append(retired, name)
		} else {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		names = retired
	}
	slices.Sort(names)
	return names
}

// Memory of a list, and of each tool in it, without the texts.
const (
	listOverhead = 1 << 10
	toolOverhead = 256
)

// readTools reads one page of a list.
func readTools(page wire.Value, digest [sha256.Size]byte) *toolList {
	list := &toolList{digest: digest, tools: make(map[string]*tool, page.Len()), bytes: listOverhead}
	for described := range page.Elements() {
		if name, t, ok := readTool(described); ok {
			list.tools[name] = t
			list.bytes += toolOverhead + len(name) + len(t.input)
		}
	}
	return list
}

// readTool reads the description of a tool in one pass.
func readTool(described wire.Value) (name string, t *tool, ok bool) {
	t = &tool{}
	for member, value := range described.Members() {
		switch {
		case member.Is("name"):
			name, ok = value.Str()
		case member.Is("description"):
			t.retired = saysDeprecated.Get().Match(value.Raw())
		case member.Is("outputSchema"):
			t.promises = value.Type() == wire.TypeObject
		case member.Is("inputSchema"):
			if value.Type() == wire.TypeObject && len(value.Raw()) <= maxInputSchema {
				t.input = string(value.Raw())
			}
		case member.Is("annotations"):
			t.readOnly, _ = value.Path("readOnlyHint").Bool()
			t.again, _ = value.Path("idempotentHint").Bool()
		}
	}
	return name, t, ok
}

// saysDeprecated matches a description, as JSON, of a tool that should no longer be called. "Lists deprecated packages" is not one.
var saysDeprecated = lazyregexp.New(`\bDEPRECATED\b|(?:^"|[\[(*_.!] ?)(?i:deprecated)(?:[\]):.,;!*_]| (?:[-–—]|(?:in favou?r|since|use)\b))|\b(?i:is|been|now) deprecated\b`)

// joined returns the list made of two pages.
func (l *toolList) joined(next *toolList) *toolList {
	all := &toolList{tools: l.tools, bytes: l.bytes + next.bytes}
	all.digest = sha256.Sum256(append(l.digest[:], next.digest[:]...))
	for name, t := range next.tools {
		all.tools[name] = t
	}
	return all
}
