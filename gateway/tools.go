package gateway

import (
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/wire"
)

// tool is what the gateway has learnt of a tool from the server's own list.
type tool struct {
	input    *schema.Schema // nil if it cannot be used
	promises bool           // it has an outputSchema
	readOnly bool
	again    bool              // idempotent: a second call does no more than the first
	listed   [sha256.Size]byte // the digest of what the list says of it
}

var schemas schema.Cache

// What is kept of a server that lists without end. A list that is larger is not learnt at all, because a part of it would have us refuse
// tools that exist.
const (
	maxTools     = 10_000
	maxToolBytes = 16 << 20 // of the list as it is written
)

// toolbox is what tools/list has told so far.
type toolbox struct {
	mu    sync.RWMutex
	known map[string]*tool
	whole bool // a list without further pages was seen, so that a name which is not in it does not exist
	pages map[string]*tool
	next  string // the cursor of the page that follows those; "" if none does
	bytes int    // of those
}

// find returns a tool, and whether the list is complete.
func (t *toolbox) find(name string) (found *tool, complete bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.known[name], t.whole
}

func (t *toolbox) names() []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	names := make([]string, 0, len(t.known))
	for name := range t.known {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// learn takes the page of tools/list that a cursor has asked for, "" for the first. The list counts when its last page has come. A page
// that does not follow the one before is left out: clients may list at the same time, or ask for a page twice, and a list with
// holes would have us refuse tools that exist.
func (t *toolbox) learn(result wire.Value, cursor string) {
	tools, ok := result.Get("tools")
	if !ok || tools.Type() != wire.TypeArray {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case cursor == "":
		t.pages, t.bytes = map[string]*tool{}, 0
	case t.pages == nil || cursor != t.next:
		return
	}
	if t.bytes += len(tools.Raw()); t.bytes > maxToolBytes || len(t.pages)+tools.Len() > maxTools {
		t.pages = nil
		return
	}
	for v := range tools.Elements() {
		if name, ok := v.Path("name").Str(); ok {
			t.pages[name] = t.describe(name, v)
		}
	}
	if next := v(result, "nextCursor"); next.Present() && !next.IsNull() {
		t.next, _ = next.Str()
		return
	}
	t.known, t.whole, t.pages = t.pages, true, nil
}

// Forget drops what was learnt, because the server says that it has changed.
func (t *toolbox) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.whole = false
	t.known, t.pages = nil, nil
}

func (t *toolbox) describe(name string, listed wire.Value) *tool {
	digest := sha256.Sum256(listed.Raw())
	if before := t.known[name]; before != nil && before.listed == digest {
		return before
	}
	d := &tool{listed: digest, promises: v(listed, "outputSchema").Type() == wire.TypeObject}
	if input := v(listed, "inputSchema"); input.Type() == wire.TypeObject {
		if s, err := schemas.Get(input.Raw()); err == nil {
			d.input = s
		}
	}
	d.readOnly, _ = listed.Path("annotations", "readOnlyHint").Bool()
	d.again, _ = listed.Path("annotations", "idempotentHint").Bool()
	return d
}

func v(of wire.Value, name string) wire.Value {
	got, _ := of.Get(name)
	return got
}
