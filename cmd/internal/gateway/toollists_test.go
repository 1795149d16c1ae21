package gateway

import (
	"fmt"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/wire"
)

// learnAll adds a list for each of many callers to a budget.
func learnAll(b *listBudget, callers int, list func(i int) string) *ToolCache {
	cache := &ToolCache{}
	for i := range callers {
		result, _ := wire.ParseValue([]byte(list(i)), wire.Limits{})
		b.learn(cache.set(Caller{Session: fmt.Sprint("s", i)}), result, "")
	}
	return cache
}

func TestListBudgetHoldsOverAllCallers(t *testing.T) {
	const most = 256 << 10
	b := newListBudget(most)
	cache := learnAll(b, 200, func(i int) string {
		return fmt.Sprintf(`{"tools":[{"name":"t","inputSchema":{"type":"object","title":"%d%s"}}]}`, i, strings.Repeat("x", 10_000))
	})
	if b.used > most || b.used <= 0 || len(b.lists) != b.sets.Len() || len(cache.sets) != b.sets.Len() {
		t.Errorf("%d bytes are used, of %d lists and %d sets; %d callers are known", b.used, len(b.lists), b.sets.Len(), len(cache.sets))
	}
	if cache.find(Caller{Session: "s0"}).current() != nil || cache.find(Caller{Session: "s199"}).current() == nil {
		t.Error("the newest list was dropped, or the oldest was not")
	}
	b.drop(cache.sets)
	if b.used != 0 || b.sets.Len() != 0 || len(b.lists) != 0 {
		t.Errorf("%d bytes, %d sets and %d lists are left", b.used, b.sets.Len(), len(b.lists))
	}
}

func TestEqualListsAreKeptOnce(t *testing.T) {
	b := newListBudget(1 << 20)
	list := `{"tools":[{"name":"t","inputSchema":{"type":"object","title":"` + strings.Repeat("x", 100_000) + `"}}]}`
	cache := learnAll(b, 50, func(int) string { return list })
	if len(b.lists) != 1 || b.sets.Len() != 50 {
		t.Errorf("%d lists are kept for %d callers", len(b.lists), b.sets.Len())
	}
	for _, s := range cache.sets {
		if s.current() == nil || s.current() != cache.find(Caller{Session: "s0"}).current() {
			t.Fatal("a caller has a list of its own, or none")
		}
	}
}

// Unfinished lists of many callers are bounded in the same way as complete lists.
func TestListBudgetHoldsForPages(t *testing.T) {
	const most = 256 << 10
	b, cache := newListBudget(most), &ToolCache{}
	for i := range 100 {
		cursor := ""
		for j := range 5 {
			result, _ := wire.ParseValue(fmt.Appendf(nil, `{"tools":[{"name":"t%d","inputSchema":{"type":"object","title":"%s"}}],"nextCursor":"%d"}`,
				j, strings.Repeat("x", 5_000), j), wire.Limits{})
			b.learn(cache.set(Caller{Session: fmt.Sprint("s", i)}), result, cursor)
			cursor = fmt.Sprint(j)
		}
		if b.used > most {
			t.Fatalf("%d bytes are used after %d callers", b.used, i)
		}
	}
	b.drop(cache.sets)
	if b.used != 0 {
		t.Errorf("%d bytes are left", b.used)
	}
}
