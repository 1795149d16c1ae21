package gateway

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/candor-mcp/candor/contract"
)

// Tolerance is a departure from a tool's input schema with which calls have succeeded: the server accepts more than its schema says.
type Tolerance struct {
	Tool  string `json:"tool"`
	Path  string `json:"path"`          // a JSON Pointer; * stands for any index of a list
	Rule  string `json:"rule"`          // the schema keyword that was broken, or unknown_key
	Got   string `json:"got,omitempty"` // the type that was accepted
	Calls uint64 `json:"calls"`         // that succeeded with it
}

// Bounds of what is remembered of one upstream: callers choose names of keys.
const (
	maxTolerances    = 1024
	MaxToolTolerance = 32 // per tool
)

// tolerances remembers the departures with which calls have succeeded. The zero value is ready.
type tolerances struct {
	mu    sync.Mutex
	calls map[Tolerance]uint64 // guarded by mu; the keys count no calls
	tools map[string]int       // guarded by mu: how many of them a tool has
}

// note remembers what the arguments of a successful call had that does not fit the schema.
func (t *tolerances) note(c *Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, issue := range c.departures.issues {
		key := Tolerance{Tool: contract.Bound(c.tool, maxMethod), Path: anyIndex(issue.Path), Rule: issue.Rule, Got: issue.Got}
		if _, known := t.calls[key]; !known && !t.add(key) {
			continue
		} else if !known {
			c.up.Options.Logger.InfoContext(context.Background(), "the server accepts what its schema does not", slog.String("upstream", c.up.Options.Name),
				slog.String("tool", key.Tool), slog.String("path", key.Path), slog.String("rule", key.Rule))
		}
		t.calls[key]++
	}
}

// add makes place for a tolerance, and reports whether there is any.
func (t *tolerances) add(key Tolerance) bool {
	if len(t.calls) >= maxTolerances || t.tools[key.Tool] >= MaxToolTolerance {
		return false
	}
	if t.calls == nil {
		t.calls, t.tools = map[Tolerance]uint64{}, map[string]int{}
	}
	t.tools[key.Tool]++
	return true
}

// anyIndex writes * for the numbers in a JSON Pointer, so that a fault in any item of a list is the same.
func anyIndex(path string) string {
	if !strings.ContainsAny(path, "0123456789") {
		return path
	}
	steps := strings.Split(path, "/")
	for i, step := range steps {
		if _, err := strconv.ParseUint(step, 10, 32); err == nil {
			steps[i] = "*"
		}
	}
	return strings.Join(steps, "/")
}

// Tolerances returns the departures from the tools' schemas with which calls have succeeded, by tool, path and rule.
// Their number is bounded.
func (u *Upstream) Tolerances() []Tolerance {
	u.tolerances.mu.Lock()
	defer u.tolerances.mu.Unlock()
	all := make([]Tolerance, 0, len(u.tolerances.calls))
	for one, calls := range u.tolerances.calls {
		one.Calls = calls
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Tolerance) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Got, b.Got))
	})
	return all
}
