package gateway

import (
	"crypto/sha256"
	"slices"
	"sync/atomic"

	"github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/wire"
)

// tool holds the parts of a tool's description that the gateway uses. Its schema is compiled when the tool is first called.
type tool struct {
	promises bool // it has an outputSchema
	readOnly bool
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

func (l *toolList) names() []string {
	names := make([]string, 0, len(l.tools))
	for name := range l.tools {
		names = append(names, name)
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

// joined returns the list made of two pages.
func (l *toolList) joined(next *toolList) *toolList {
	all := &toolList{tools: l.tools, bytes: l.bytes + next.bytes}
	all.digest = sha256.Sum256(append(l.digest[:], next.digest[:]...))
	for name, t := range next.tools {
		all.tools[name] = t
	}
	return all
}

// Member returns a member of an object, or the zero Value if it is missing.
func Member(of wire.Value, name string) wire.Value {
	got, _ := of.Get(name)
	return got
}
