package schema_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/internal/schema"
)

func TestWhatIsNotJSONHasOneIssueAtTheWhole(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"additionalProperties":{"uniqueItems":true}}`)
	for _, c := range []struct{ value, rule string }{
		{`{`, "truncated"},
		{`nope`, "not_json"},
		{`{} {}`, "trailing_data"},
		{`{"n":1,"n":2}`, "duplicate_key"},
		{`{"n":1,"\u006e":2}`, "duplicate_key"},
		{"{\"a\":\"\xff\"}", "bad_utf8"},
		{strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000), "too_deep"},
		{strings.Repeat("[", 1_000_000), "truncated"},
		{`null`, "type"},
		{`"text"`, "type"},
	} {
		r := s.Explain([]byte(c.value))
		if diff := difference([]string{" " + c.rule}, lines(r)); diff != "" {
			t.Errorf("%.40s: %s", c.value, diff)
		}
		if s.Accepts([]byte(c.value)) {
			t.Errorf("%.40s is accepted", c.value)
		}
	}
}

// A number that is too large to work with, or a value that takes too long to check, may be valid: it is not reported as wrong.
func TestUncheckedValueIsNotValid(t *testing.T) {
	t.Parallel()
	numbers := `{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"additionalProperties":{"uniqueItems":true}}`
	rows := `{"items":{"anyOf":[` + strings.Repeat(`{"type":"object","required":["x"],"properties":{"k":{"const":1}}},`, 7) + `{"type":"object"}]}}`
	for name, c := range map[string]struct{ schema, value string }{
		"exponent":             {numbers, `{"n":1e999999999}`},
		"smaller exponent":     {numbers, `{"n":1e1000000}`},
		"digits":               {numbers, `{"n":` + strings.Repeat("9", 100_000) + `}`},
		"deep exponent":        {numbers, `{"other":[{"x":[1e999999999]},1]}`},
		"2,000 unique objects": {`{"uniqueItems":true,"items":{"type":"object"}}`, numbered(`[`, `{"id":%d,"name":"n","tags":["a","b"]},`, `{}]`, 90_000)},
		"20,000 rows":          {rows, filled(`[`, `{"k":2,"v":"text"},`, `{}]`, 380_000)},
	} {
		r := compile(t, c.schema).Explain([]byte(c.value))
		if r.OK() || !r.Unchecked || r.Fatal || len(r.Issues) != 1 {
			t.Errorf("%s: valid %t, unchecked %t, %v", name, r.OK(), r.Unchecked, lines(r))
		}
	}
}

func TestSchemaThatCannotBeCheckedIsRefused(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"no JSON":             `{`,
		"nothing":             ``,
		"no schema":           `[]`,
		"bad keyword":         `{"type":"strange"}`,
		"remote reference":    `{"$ref":"https://example.com/schema.json"}`,
		"file reference":      `{"$ref":"file:///etc/hostname"}`,
		"relative reference":  `{"$ref":"other.json"}`,
		"remote draft":        `{"$schema":"https://example.com/draft"}`,
		"dangling reference":  `{"$ref":"#/$defs/none"}`,
		"circle":              `{"$ref":"#"}`,
		"long circle":         `{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`,
		"dynamic":             `{"$dynamicAnchor":"x","properties":{"a":{"$dynamicRef":"#x"}}}`,
		"huge number":         `{"minimum":1e999999999}`,
		"too deep":            strings.Repeat(`{"not":`, 100) + "{}" + strings.Repeat("}", 100),
		"too large":           `{"title":"` + strings.Repeat("x", 1<<20) + `"}`,
		"too many parts":      `{"allOf":[` + strings.Repeat(`{"type":"null"},`, 9000) + `{}]}`,
		"negated pattern":     `{"not":{"pattern":"^(?=x)"}}`,
		"deciding pattern":    `{"properties":{"a":{"oneOf":[{"items":{"pattern":"^(?=x)"}},{"type":"null"}]}}}`,
		"huge patterns":       `{"allOf":[` + strings.Repeat(`{"pattern":"^(((a{0,10}){0,10}){0,9})*$"},`, 400) + `{}]}`,
		"unreadable key rule": `{"patternProperties":{"^(?=x)":{}}}`,
	} {
		if _, err := schema.Compile([]byte(raw)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestNoFileIsEverRead(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(file, []byte(`{"type":"object"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, keyword := range []string{"$ref", "$schema"} {
		if _, err := schema.Compile(fmt.Appendf(nil, `{%q:"file://%s"}`, keyword, filepath.ToSlash(file))); err == nil {
			t.Errorf("%s to a file is followed", keyword)
		}
	}
}

// Values that are patterns themselves would be compiled on every check, by whoever sends them.
func TestPatternsAmongTheValuesAreNotCompiled(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"$schema":"http://json-schema.org/draft-07/schema#","format":"regex"}`)
	for range 500 {
		if r := s.Explain([]byte(`"^(((a{0,10}){0,10}){0,9})*$"`)); !r.OK() {
			t.Fatalf("%+v", r.Issues)
		}
	}
}

func TestPatternThatGoCannotReadIsNotChecked(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"properties":{"mail":{"type":"string","minLength":3,"pattern":"^(?!\\.)[^@]+@[^@]+$"}}}`)
	if r := s.Explain([]byte(`{"mail":"anything"}`)); !r.OK() {
		t.Errorf("%+v", r.Issues)
	}
	if r := s.Explain([]byte(`{"mail":"x"}`)); r.OK() {
		t.Error("the rest of the schema is not checked")
	}
}

// Every level doubles the work of a validator that tries all alternatives. These must come back with any result; no rule means unchecked.
func TestSchemasMadeToTakeForeverDoNot(t *testing.T) {
	t.Parallel()
	var ladder strings.Builder
	for i := range 60 {
		fmt.Fprintf(&ladder, `"s%d":{"oneOf":[{"$ref":"#/$defs/s%d"},{"$ref":"#/$defs/s%d"}]},`, i, i+1, i+1)
	}
	nested := strings.Repeat(`{"x":`, 60) + `1` + strings.Repeat(`}`, 60)
	words := strings.Repeat(`["a`+`\u0004b"],["a","b"],`, 8_000)
	for name, c := range map[string]struct{ schema, value, rule string }{
		"references":   {`{"$ref":"#/$defs/s0","$defs":{` + ladder.String() + `"s60":{"type":"null"}}}`, `1`, ""},
		"recursion":    {`{"type":"object","anyOf":[{"properties":{"x":{"$ref":"#"}}},{"properties":{"x":{"$ref":"#"}},"required":["y"]}]}`, nested, ""},
		"equal hashes": {`{"uniqueItems":true}`, "[" + words + "1]", ""},
		"repetition":   {`{"pattern":"^(((a{0,10}){0,10}){0,10})*$"}`, `"` + strings.Repeat("a", 1<<20) + `!"`, ""},
		"many values":  {`{"items":{"enum":[` + strings.Repeat(`"x",`, 5000) + `"y"]}}`, "[" + strings.Repeat("1,", 100_000) + "1]", ""},
		"many matches": {`{"contains":{"type":"null"},"minContains":1000000000000000}`, `[1]`, "minContains"},
		"long names":   {`{"contains":{"required":["` + strings.Repeat("k", 900_000) + `"]}}`, `[{}]`, "contains"},
		"many faults":  {`{"items":{"type":"string"}}`, "[" + strings.Repeat("1,", 20_000) + "1]", "type"},
	} {
		r := compile(t, c.schema).Explain([]byte(c.value))
		if r.Unchecked != (c.rule == "") || c.rule != "" && (len(r.Issues) == 0 || r.Issues[0].Rule != c.rule) {
			t.Errorf("%s: unchecked %t, %v and %d more", name, r.Unchecked, lines(r), r.More)
		}
		if text := encode(t, r); len(text) > 64<<10 {
			t.Errorf("%s: the report has %d bytes", name, len(text))
		}
	}
}

func TestDeclaredDraftIsHonoured(t *testing.T) {
	t.Parallel()
	const tuple = `"items":[{"type":"integer"}],"additionalItems":false}`
	if _, err := schema.Compile([]byte("{" + tuple)); err == nil {
		t.Error("without $schema a list of items is not draft 2020-12")
	}
	old := compile(t, `{"$schema":"http://json-schema.org/draft-07/schema#",`+tuple)
	if r := old.Explain([]byte(`[1]`)); !r.OK() {
		t.Errorf("%+v", r.Issues)
	}
	if diff := difference([]string{" additionalItems", "/0 type"}, lines(old.Explain([]byte(`["x",2]`)))); diff != "" {
		t.Error(diff)
	}
	asserting := compile(t, `{"$schema":"http://json-schema.org/draft-07/schema#","format":"date"}`)
	if diff := difference([]string{" format"}, lines(asserting.Explain([]byte(`"x"`)))); diff != "" {
		t.Error(diff)
	}
	if r := compile(t, `{"format":"date"}`).Explain([]byte(`"x"`)); !r.OK() {
		t.Errorf("in draft 2020-12 a format only informs: %+v", r.Issues)
	}
}

// The drafts' own schemas are built in, and nothing that is done to one compiled schema shows in another.
func TestSchemaOfSchemasIsBuiltIn(t *testing.T) {
	t.Parallel()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			s, err := schema.Compile([]byte(`{"properties":{"s":{"$ref":"http://json-schema.org/draft-07/schema#"}}}`))
			if err != nil {
				t.Error(err)
				return
			}
			if r := s.Explain([]byte(`{"s":{"type":"object","pattern":"x"}}`)); !r.OK() {
				t.Errorf("%+v", r.Issues)
			}
			if r := s.Explain([]byte(`{"s":{"minLength":-1}}`)); r.OK() {
				t.Error("a bad schema passes")
			}
		})
	}
	wait.Wait()
}
