package schema_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/schema"
)

const listSchema = `{"type":"object","properties":{"limit":{"type":"integer"},"items":{"type":"array","items":{"type":"object",
	"properties":{"name":{"type":"string"},"size":{"type":"integer"}},"additionalProperties":false}}}}`

// filled writes a text of about that size: an opening, one part again and again, a last part that closes.
func filled(opening, part, closing string, size int) string {
	return opening + strings.Repeat(part, max(0, size-len(opening)-len(closing))/len(part)) + closing
}

// numbered is filled with parts that differ: %d is their number.
func numbered(opening, part, closing string, size int) string {
	var b strings.Builder
	b.WriteString(opening)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, part, i)
	}
	return b.String() + closing
}

// hugeCases are values that a validator would decode, and find faults in, without end; first is the first finding, empty if unchecked.
func hugeCases() map[string]struct{ schema, value, first string } {
	const full = 1 << 20
	nested := `{"type":"array","items":{"$ref":"#"}}`
	either := `{"anyOf":[{"items":{"type":"string"}},{"items":{"type":"null"}}]}`
	return map[string]struct{ schema, value, first string }{
		"unknown keys in a list":    {listSchema, filled(`{"items":[`, `{"x":1},`, `{}]}`, 4<<20), ""},
		"unknown keys":              {`{"properties":{"a":{}},"additionalProperties":false}`, numbered(`{`, `"k%d":1,`, `"z":1}`, full), " too_complex"},
		"keys of a wrong type":      {`{"additionalProperties":{"type":"string"}}`, numbered(`{`, `"k%d":1,`, `"z":1}`, full), " too_complex"},
		"names":                     {`{"propertyNames":{"maxLength":2}}`, numbered(`{`, `"k%d":1,`, `"z":1}`, full), ""},
		"keys by pattern":           {`{"patternProperties":{"^k":{"type":"null"}}}`, numbered(`{`, `"k%d":1,`, `"z":1}`, full), " too_complex"},
		"alternatives":              {either, filled(`[`, `1,`, `1]`, full), ""},
		"unique items":              {`{"uniqueItems":true}`, numbered(`[`, `%d,`, `-1]`, full), ""},
		"one deep list":             {nested, strings.Repeat("[", 100) + filled(`[`, `1,`, `1]`, full) + strings.Repeat("]", 100), ""},
		"deep lists":                {nested, filled(`[`, strings.Repeat("[", 100)+strings.Repeat("1,", 20_000)+"1"+strings.Repeat("]", 100)+",", `[]]`, full), ""},
		"a long text and a pattern": {`{"properties":{"s":{"pattern":"^[a-z]*$"}}}`, filled(`{"s":"`, "a", `!"}`, full), " too_complex"},
		"a long text":               {`{"properties":{"s":{"maxLength":3}}}`, filled(`{"s":"`, `\u00e9`, `"}`, full), "/s maxLength"},
		"a missing key":             {`{"required":["a","z"]}`, numbered(`{`, `"k%d":1,`, `"z":1}`, full), " too_complex"},
	}
}

func TestExplainingAHugeValueTakesLittleMemory(t *testing.T) {
	for name, c := range hugeCases() {
		s, value := compile(t, c.schema), []byte(c.value)
		read := allocated(func() { s.Accepts(value) }) // the scan keeps the names of large objects
		var r schema.Report
		if used := allocated(func() { r = s.Explain(value) }) - read; used > 64<<20 {
			t.Errorf("%s: %d MiB", name, used>>20)
		}
		if r.Unchecked != (c.first == "") || c.first != "" && (len(r.Issues) == 0 || lines(r)[0] != c.first) {
			t.Errorf("%s: unchecked %t, %v and %d more", name, r.Unchecked, lines(r), r.More)
		}
	}
}

// allocated counts the bytes that a function allocates.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

func TestLargeValueThatIsInOrderPasses(t *testing.T) {
	t.Parallel()
	const one = `{"id":"ab-12","kind":"x","text":"lorem ipsum, dolor {sit} amet, consectetur adipiscing elit: sed do eiusmod tempor"},`
	const items = `{"type":"object","properties":{"id":{"type":"string","pattern":"^[a-z]+-[0-9]+$"},"kind":{"anyOf":[{"type":"string","maxLength":1},{"type":"string"}]}},"required":["id"]}`
	for name, c := range map[string]struct{ schema, value string }{
		"a long text beside a pattern": {`{"properties":{"path":{"pattern":"^/"},"text":{"type":"string"}},"required":["path"]}`, filled(`{"path":"/x","text":"`, "a, ", `"}`, 4<<20)},
		"a long text and its pattern":  {`{"properties":{"text":{"pattern":"^[a-z ]*$"}}}`, filled(`{"text":"`, "a ", `"}`, 4<<20)},
		"a list of objects":            {`{"properties":{"items":{"items":` + items + `}}}`, filled(`{"items":[`, one, `{"id":"a-1"}]}`, 1<<20)},
		"a list or nothing":            {`{"properties":{"items":{"anyOf":[{"type":"array","items":` + items + `},{"type":"null"}]}}}`, filled(`{"items":[`, one, `{"id":"a-1"}]}`, 1<<20)},
		"a list behind a reference":    {`{"properties":{"items":{"$ref":"#/$defs/l"}},"$defs":{"l":{"allOf":[{"items":` + items + `}],"minItems":2}}}`, filled(`{"items":[`, one, `{"id":"a-1"}]}`, 1<<20)},
		"a map":                        {`{"patternProperties":{"^k":{"type":"integer"}},"additionalProperties":false}`, numbered(`{`, `"k%d":1,`, `"k":1}`, 1<<20)},
		"unique items":                 {`{"uniqueItems":true}`, numbered(`[`, `%d,`, `-1]`, 100<<10)},
		"an exact length":              {fmt.Sprintf(`{"minItems":%d,"maxItems":%d,"not":{"type":"null"}}`, 50_001, 50_001), filled(`[`, `1,`, `1]`, 100_003)},
	} {
		s := compile(t, c.schema)
		if r := s.Explain([]byte(c.value)); !r.OK() {
			t.Errorf("%s: %v", name, lines(r))
		}
	}
}

func TestFaultBesideALargeTextIsExplained(t *testing.T) {
	t.Parallel()
	r := explain(t, listSchema, filled(`{"items":[{"name":"x","size":1},{"nam":1}],"limit":"1","text":"`, "a, ", `"}`, 4<<20))
	if diff := difference([]string{"/items/1/nam unknown_key", "/limit type"}, lines(r)); diff != "" {
		t.Fatal(diff)
	}
	if r.Issues[0].Hint != `did you mean "name"?` || r.Issues[1].Hint != "write the number without quotes" || r.More != 0 {
		t.Errorf("%+v", r.Issues)
	}
}
