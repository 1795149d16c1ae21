package schema

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// withProperties writes a schema with that many properties.
func withProperties(count int, property string) string {
	var b strings.Builder
	for i := range count {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"p%d":%s`, i, strings.ReplaceAll(property, "#", fmt.Sprint(i%40+1)))
	}
	return `{"type":"object","properties":{` + b.String() + `}}`
}

// The cache is bounded by what schemas weigh, so the weight must not be less than the memory they take.
func TestWeightIsNotLessThanTheMemoryTaken(t *testing.T) {
	for name, raw := range map[string]string{
		"properties":     withProperties(500, `{"type":"string"}`),
		"patterns":       withProperties(100, `{"type":"string","pattern":"^[a-z]{1,#}-x$"}`),
		"large patterns": withProperties(3, `{"type":"string","pattern":"^(\\p{L}{1,900})$"}`),
		"words":          `{"enum":[` + strings.Repeat(`"aaaa",`, 14000) + `"b"]}`,
		"numbers":        `{"enum":[` + strings.Repeat(`1,`, 50000) + `"b"]}`,
		"a text":         `{"description":"` + strings.Repeat(`d`, 100000) + `"}`,
		"alternatives":   withProperties(100, `{"anyOf":[{"type":"string","enum":["a","b"]},{"type":"null"}]}`),
		"few":            withProperties(5, `{"type":"string","description":"something"}`),
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		const times = 3
		kept := make([]*Schema, 0, times)
		for range times {
			s, err := Compile([]byte(raw))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			kept = append(kept, s)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		took := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / times
		t.Logf("%s: weighs %d, takes %d", name, kept[0].weight, took)
		if int64(kept[0].weight) < took*9/10 {
			t.Errorf("%s: weighs %d, takes %d", name, kept[0].weight, took)
		}
		runtime.KeepAlive(kept)
	}
}
