package schema_test

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/candor-mcp/candor/internal/schema"
)

// judge asks the library alone.
func judge(tb testing.TB, s *jsonschema.Schema, value string) bool {
	tb.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(value))
	return err == nil && s.Validate(v) == nil
}

func TestQuickYesIsNeverContradicted(t *testing.T) {
	t.Parallel()
	r := newRandom(1)
	accepted, valid := 0, 0
	for i := range 1500 {
		raw := r.schema(2, i%2 == 0)
		s, err := schema.Compile([]byte(raw))
		if err != nil {
			continue // a pattern that cannot be read decides something
		}
		full := library(t, strings.ReplaceAll(raw, "(?!no)", ""))
		for range 6 {
			value := r.near(t, raw)
			if r.IntN(3) == 0 {
				value = r.value(3)
			}
			yes, fits := s.Accepts([]byte(value)), judge(t, full, value)
			if fits {
				valid++
			}
			if yes {
				accepted++
			}
			if yes && !fits {
				t.Fatalf("accepted, but the full check refuses\nschema %s\nvalue %s", raw, value)
			}
			if yes && !s.Explain([]byte(value)).OK() {
				t.Fatalf("accepted, but explained\nschema %s\nvalue %s", raw, value)
			}
		}
	}
	if accepted*2 < valid || valid < 500 {
		t.Errorf("the quick check says yes to %d of %d valid values: the test proves little", accepted, valid)
	}
}

func FuzzAccepts(f *testing.F) {
	r := newRandom(2)
	for range 40 {
		raw := r.schema(2, false)
		f.Add(raw, r.near(f, raw))
	}
	f.Add(`{"type":"integer"}`, "1e999999999")
	f.Add(`{"$ref":"#"}`, "1")
	f.Add(`{"oneOf":[{"type":"array","items":{"$ref":"#"}},{"type":"null"}]}`, "[[[null]]]")
	f.Fuzz(func(t *testing.T, raw, value string) {
		s, err := schema.Compile([]byte(raw))
		if err != nil {
			return
		}
		report := s.Explain([]byte(value))
		if s.Accepts([]byte(value)) && !report.OK() {
			t.Errorf("accepted, but explained: %+v", report.Issues)
		}
		if !report.Template.IsZero() && !s.Explain([]byte(report.Template.String())).OK() {
			t.Errorf("the template %s does not pass", report.Template)
		}
	})
}

// TestQuickCheckKnowsWhatToolsUse holds what the quick check must be able to decide; a no here is a slow call, not a wrong one.
func TestQuickCheckKnowsWhatToolsUse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schema, value string }{
		{`{"type":"object"}`, ``},
		{`{"type":"object"}`, `{"any":[1,{"x":null}]}`},
		{`{"type":["null","array"],"items":{"type":"integer"}}`, `[1,1.0,-0]`},
		{`{"type":"integer","minimum":1,"maximum":10}`, `10`},
		{`{"type":"number","minimum":0.1}`, `0.2`},
		{`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}`, `0.5`},
		{`{"type":"string","minLength":2,"maxLength":2}`, `"😀é"`},
		{`{"enum":["a",1,true,null]}`, `null`},
		{`{"const":"a"}`, `"a"`},
		{`{"properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, `{"a":"x"}`},
		{`{"required":["z"],"additionalProperties":{"type":"boolean"}}`, `{"z":true,"y":false}`},
		{`{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":2}`, `["x"]`},
		{`{"properties":{"u":{"type":"string","format":"uri","default":"x","examples":["y"]}},"title":"t"}`, `{"u":"z"}`},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `null`},
		{`{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `7`},
		{`{"$defs":{"n":{"type":"integer"}},"properties":{"n":{"$ref":"#/$defs/n"}}}`, `{"n":4}`},
		{`{"properties":{"next":{"$ref":"#"},"v":{"type":"integer"}},"required":["v"]}`, `{"v":1,"next":{"v":2,"next":{"v":3}}}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","type":"array","items":{"type":"string","format":"int32"}}`, `["x"]`},
	} {
		if !compile(t, c.schema).Accepts([]byte(c.value)) {
			t.Errorf("%s does not accept %s", c.schema, c.value)
		}
	}
}

func TestQuickCheckLeavesDoubtsToTheFullOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schema, value string }{
		{`{}`, `{"a":1,"a":1}`},
		{`{}`, `{"a":1}x`},
		{`{"type":"string","pattern":"x"}`, `"x"`},
		{`{"properties":{"a":{"not":{}}}}`, `{"a":1}`},
		{`{"type":"number"}`, `1e999999999`},
		{`{"maximum":9007199254740992}`, `9007199254740993`},
		{`{"minimum":0.1}`, `0.1`},
		{`{"type":"string","minLength":3}`, `"\u0061\nb"`},
		{`{"oneOf":[{"type":"number"},{"type":"integer"}]}`, `7`},
		{`{"minimum":1,"exclusiveMinimum":1}`, `1`},
		{`{"properties":{"a\\nb":{"type":"integer"}},"additionalProperties":false}`, `{"a\nb":1}`}, // a name with a backslash, and one with a line end
		{`{"enum":["a\\nb"]}`, `"a\nb"`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","format":"uri"}`, `"no uri"`},
		{`false`, `1`},
	} {
		if compile(t, c.schema).Accepts([]byte(c.value)) {
			t.Errorf("%s is sure of %s", c.schema, c.value)
		}
	}
}

func TestAcceptsTakesNoMemory(t *testing.T) {
	for _, c := range []struct{ schema, value string }{
		{benchSchema, benchValue},
		{`{"type":"object"}`, ``},
		{`{"items":{"type":"number","minimum":0.5},"type":"array"}`, `[1,2.25,3.0000000001,4]`},
		{`{"properties":{"s":{"type":"string","maxLength":4}}}`, `{"s":"é\n"}`},
		{`{"additionalProperties":{"enum":["x","y"]}}`, `{"a":"x","b":"y","c":"x","d":"y","e":"x","f":"x","g":"x","h":"x","i":"x"}`},
	} {
		s, value := compile(t, c.schema), []byte(c.value)
		if !s.Accepts(value) {
			t.Errorf("%s does not accept %s", c.schema, c.value)
		}
		if n := testing.AllocsPerRun(100, func() { s.Accepts(value) }); n != 0 {
			t.Errorf("accepting %s allocates %v times", c.value, n)
		}
	}
}
