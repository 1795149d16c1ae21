package schema_test

import (
	"fmt"
	"runtime"
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

func TestCacheIsBoundedAndAnEntryLetsGo(t *testing.T) {
	t.Parallel()
	var c schema.Cache
	e := c.Entry([]byte(`{"title":"idle"}`))
	if s, ok := e.Schema(); s == nil || !ok {
		t.Fatal("the schema was not compiled")
	}
	if s, ok := c.Entry([]byte(`{`)).Schema(); s != nil || !ok {
		t.Error("an invalid schema is to be compiled again")
	}
	long := strings.Repeat("d", 100_000)
	for i := range 300 {
		if _, err := c.Get(fmt.Appendf(nil, `{"minimum":%d,"description":%q}`, i, long)); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	if _, ok := e.Schema(); ok {
		t.Error("the cache grows without bound, or the entry keeps a schema that was dropped")
	}
}
