package schema_test

import (
	"fmt"
	"strings"
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
	long := strings.Repeat("d", 100_000)
	for i := range 300 {
		get(fmt.Sprintf(`{"minimum":%d,"description":%q}`, i, long))
		if i%10 == 0 {
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

// A holder of an entry must not keep the memory of a schema that the cache has dropped.
func TestEntryLetsGoOfADroppedSchema(t *testing.T) {
	t.Parallel()
	var c schema.Cache
	e := c.Entry([]byte(`{"title":"idle"}`))
	if s, ok := e.Schema(); s == nil || !ok {
		t.Fatal("the schema was not compiled")
	}
	long := strings.Repeat("d", 100_000)
	for i := range 300 {
		c.Entry(fmt.Appendf(nil, `{"minimum":%d,"description":%q}`, i, long))
	}
	if _, ok := e.Schema(); ok {
		t.Error("the entry keeps a schema that was dropped")
	}
}
