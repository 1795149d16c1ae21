package router

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// hints remembers which tools of a session declare readOnlyHint or idempotentHint. The zero value has none.
type hints struct {
	listing sync.Mutex // held while the tools are listed

	mu      sync.Mutex // guards the fields below; never held while waiting for the server
	known   bool
	changes int // number of list-changed notifications
	listed  map[string]bool
}

const (
	maxListed  = 10_000 // maximum number of remembered tools
	maxChanges = 100    // maximum number of times the router lists the tools again
	listWait   = 10 * time.Second
)

// load lists the tools of a session unless they are known. If that fails, no tool is repeatable, and load does not try
// again.
func (h *hints) load(ctx context.Context, session *mcp.ClientSession) {
	if known, _ := h.state(); known {
		return
	}
	h.listing.Lock()
	defer h.listing.Unlock()
	known, changes := h.state()
	if known { // another call has listed them
		return
	}
	listed := list(ctx, session)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changes == changes {
		h.listed, h.known = listed, true
	}
}

func (h *hints) state() (known bool, changes int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.known, h.changes
}

func list(ctx context.Context, session *mcp.ClientSession) map[string]bool {
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	repeatable, seen := map[string]bool{}, 0
	for tool, err := range session.Tools(ctx, nil) {
		if seen++; err != nil || seen > maxListed {
			break
		}
		if a := tool.Annotations; a != nil && (a.ReadOnlyHint || a.IdempotentHint) {
			repeatable[tool.Name] = true
		}
	}
	return repeatable
}

// forget makes the next call list the tools again. After maxChanges changes no tool is repeatable until the session
// ends.
func (h *hints) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changes++
	h.known = h.changes > maxChanges
	h.listed = nil
}

func (h *hints) repeatable(tool string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.listed[tool]
}
