package gateway

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/candor-mcp/candor"
)

// Tolerance is a deviation from a tool's input schema with which calls have succeeded: the server accepts more than its schema
// allows.
type Tolerance struct {
	Tool  string `json:"tool"`
	Path  string `json:"path"`          // a JSON Pointer; * is any array index
	Rule  string `json:"rule"`          // the schema keyword that was violated, or unknown_key
	Got   string `json:"got,omitempty"` // the type that was accepted
	Calls uint64 `json:"calls"`         // number of calls that succeeded with it
}

// Bounds on the tolerances of one upstream. They are needed because callers choose the names of keys.
const (
	maxTolerances    = 1024
	MaxToolTolerance = 32 // per tool
)

// tolerances counts the deviations with which calls have succeeded. The zero value is ready to use.
type tolerances struct {
	mu    sync.Mutex
	calls map[Tolerance]uint64 // guarded by mu; Calls is zero in the keys
	tools map[string]int       // guarded by mu; number of tolerances per tool
}

// note counts the deviations from the schema in the arguments of a successful call.
func (t *tolerances) note(c *Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, issue := range c.mismatches.issues {
		key := Tolerance{Tool: candor.Public(c.tool, maxMethod), Path: anyIndex(issue.Path), Rule: issue.Rule, Got: issue.Got}
		if _, known := t.calls[key]; !known && !t.add(key) {
			continue
		} else if !known {
			c.up.Options.Logger.InfoContext(context.Background(), "the server accepts arguments that its schema does not allow",
				slog.String("tool", key.Tool), slog.String("path", key.Path), slog.String("rule", key.Rule))
		}
		t.calls[key]++
	}
}

// add adds a tolerance, and reports whether the bounds allowed it.
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

// anyIndex replaces the numbers in a JSON Pointer by *, so that deviations in all items of an array count as one.
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

// Tolerances returns the deviations from the tools' schemas with which calls of the upstreams have succeeded, by tool, path and
// rule. Their number is bounded.
func Tolerances(of ...*Upstream) []Tolerance {
	sums := map[Tolerance]uint64{}
	for _, u := range of {
		u.tolerances.mu.Lock()
		for one, calls := range u.tolerances.calls {
			sums[one] += calls
		}
		u.tolerances.mu.Unlock()
	}
	all := make([]Tolerance, 0, len(sums))
	for one, calls := range sums {
		one.Calls = calls
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Tolerance) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Got, b.Got))
	})
	return all
}
