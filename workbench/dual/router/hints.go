package router

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// hints remembers which tools of a session declare readOnlyHint or idempotentHint. The zero value knows none.
type hints struct {
	mu     sync.Mutex
	known  bool
	listed map[string]bool
}

const (
	maxListed = 10_000 // bounds what is remembered of a server that lists without end
	listWait  = 10 * time.Second
)

// load lists the tools of a session unless they are known. If that fails, no tool is repeatable, and it is not tried again.
func (h *hints) load(ctx context.Context, session *mcp.ClientSession) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known {
		return
	}
	h.known, h.listed = true, map[string]bool{}
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	seen := 0
	for tool, err := range session.Tools(ctx, nil) {
		if seen++; err != nil || seen > maxListed {
			break
		}
		if a := tool.Annotations; a != nil && (a.ReadOnlyHint || a.IdempotentHint) {
			h.listed[tool.Name] = true
		}
	}
}

// forget makes the next call list the tools again.
func (h *hints) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known = false
}

func (h *hints) repeatable(tool string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.listed[tool]
}
