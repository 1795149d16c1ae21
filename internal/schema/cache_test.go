package schema_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/internal/schema"
)

func TestCacheCompilesOneSchemaOnce(t *testing.T) {
	t.Parallel()
	var c schema.Cache
	const callers = 16
	got := make([]*schema.Schema, callers)
	var wait sync.WaitGroup
	for i := range callers {
		wait.Go(func() {
			s, err := c.Get([]byte(benchSchema))
			if err != nil || !s.Accepts([]byte(benchValue)) {
				t.Errorf("caller %d: %v", i, err)
			}
			got[i] = s
		})
	}
	wait.Wait()
	for i, s := range got {
		if s != got[0] {
			t.Errorf("caller %d got a schema of its own", i)
		}
	}
}

func TestCacheKeepsErrorsToo(t *testing.T) {
	t.Parallel()
	var c schema.Cache
	_, first := c.Get([]byte(`{"type":"strange"}`))
	_, second := c.Get([]byte(`{"type":"strange"}`))
	if first == nil || fmt.Sprintf("%p", first) != fmt.Sprintf("%p", second) {
		t.Errorf("%v, then %v", first, second)
	}
}

func TestCacheIsBoundedAndKeepsWhatIsUsed(t *testing.T) {
	t.Parallel()
	var c schema.Cache
	get := func(raw string) *schema.Schema {
		s, err := c.Get([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	used, idle := get(`{"title":"used"}`), get(`{"title":"idle"}`)
	for i := range 1100 {
		get(fmt.Sprintf(`{"minimum":%d}`, i))
		if i%100 == 0 {
			get(`{"title":"used"}`)
		}
	}
	if get(`{"title":"used"}`) != used {
		t.Error("a schema in use was dropped")
	}
	if get(`{"title":"idle"}`) == idle {
		t.Error("nothing was dropped: the cache grows without bound")
	}
}
