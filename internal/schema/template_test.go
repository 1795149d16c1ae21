package schema_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/schema"
)

func TestTemplateAndExamplesPass(t *testing.T) {
	t.Parallel()
	r := newRandom(4)
	made, tried, shown := 0, 0, 0
	for range 1200 {
		raw := r.schema(3, false)
		s, err := schema.Compile([]byte(raw))
		if err != nil {
			continue
		}
		report := s.Explain([]byte(r.near(t, raw)))
		if report.OK() {
			continue
		}
		tried++
		for _, issue := range report.Issues {
			if issue.Example != nil {
				shown++
			}
		}
		if report.Template.IsZero() {
			continue
		}
		made++
		if full := library(t, strings.ReplaceAll(raw, "(?!no)", "")); !judge(t, full, report.Template.String()) {
			t.Fatalf("the template does not pass\nschema %s\ntemplate %s", raw, report.Template)
		}
	}
	t.Logf("%d templates for %d faulty values, %d examples", made, tried, shown)
	if made*2 < tried || shown < 40 {
		t.Errorf("%d templates for %d faulty values, %d examples: too few to teach", made, tried, shown)
	}
}

// unfit fails every schema of the table below.
const unfit = `{"surely":"unknown"}`

func TestTemplateIsMadeFromTheSchema(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		member, want string
		own          bool // the example is from the schema
	}{
		{`{"type":"string"}`, `"text"`, false},
		{`{"type":"string","default":"d","examples":["e"]}`, `"d"`, true},
		{`{"type":"string","default":4,"examples":[5,"e"]}`, `"e"`, true},
		{`{"const":{"x":[1]}}`, `{"x":[1]}`, true},
		{`{"enum":["first","second"]}`, `"first"`, true},
		{`{"type":"string","minLength":6}`, `"textxx"`, false},
		{`{"type":"string","maxLength":2}`, `"te"`, false},
		{`{"type":"string","format":"uuid"}`, `"00000000-0000-4000-8000-000000000000"`, true},
		{`{"type":"string","pattern":"^[a-z]{2}-(one|two)\\.[0-9]+$"}`, `"aa-one.1"`, false},
		{`{"type":"string","pattern":"^[A-Z]+$","minLength":4}`, `"AAAA"`, false},
		{`{"type":"integer"}`, `1`, false},
		{`{"type":"integer","maximum":-4}`, `-4`, false},
		{`{"type":"integer","exclusiveMinimum":4}`, `5`, false},
		{`{"type":"integer","minimum":10,"multipleOf":7}`, `14`, false},
		{`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}`, `0.5`, false},
		{`{"type":"number","minimum":-3,"multipleOf":2}`, `-2`, false},
		{`{"type":"boolean"}`, `true`, false},
		{`{"type":["null","array"],"items":{"type":"integer"},"minItems":2}`, `[1,1]`, false},
		{`{"type":"array","items":{"type":"integer"},"minItems":3,"uniqueItems":true}`, `[1,2,3]`, false},
		{`{"type":"array","items":{"enum":["a","b"]},"minItems":2,"uniqueItems":true}`, `["a","b"]`, true},
		{`{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"minItems":2}`, `["text",1]`, false},
		{`{"type":"array","contains":{"const":7}}`, `[7]`, true},
		{`{"type":"array","items":false}`, `[]`, false},
		{`{"anyOf":[{"type":"string","format":"date"},{"type":"null"}]}`, `"2026-01-31"`, true},
		{`{"oneOf":[false,{"type":"integer"}]}`, `1`, false},
		{`{"allOf":[{"type":"number","minimum":2},{"type":"integer","minimum":4}]}`, `4`, false},
		{`{"$ref":"#/$defs/leaf"}`, `{"name":"text"}`, false},
		{`{"$ref":"#/$defs/tree"}`, `{"leaf":{"name":"text"}}`, false},
		{`{"type":"object","minProperties":2}`, `{"key1":"text","key2":"text"}`, false},
		{`{"type":"object","required":["a"],"dependentRequired":{"a":["b"],"b":["a"]}}`, `{"a":"text","b":"text"}`, false},
		{`{"type":"object","additionalProperties":{"type":"integer"},"required":["n"]}`, `{"n":1}`, false},
	} {
		raw := `{"type":"object","properties":{"m":` + c.member + `},"required":["m"],"additionalProperties":false,"$defs":{
			"leaf":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]},
			"tree":{"type":"object","properties":{"leaf":{"$ref":"#/$defs/leaf"},"more":{"type":"array","items":{"$ref":"#/$defs/tree"}}},"required":["leaf"]}}}`
		r := explain(t, raw, unfit)
		if got, want := r.Template.String(), `{"m":`+c.want+`}`; got != want {
			t.Errorf("%s: template %s, want %s", c.member, got, want)
		}
		want := "null"
		if c.own {
			want = c.want
		}
		if got := encode(t, r.Issues[0].Example); got != want {
			t.Errorf("%s: example %s, want %s", c.member, got, want)
		}
	}
}

func TestNoTemplateRatherThanOneThatFails(t *testing.T) {
	t.Parallel()
	for name, member := range map[string]string{
		"nothing passes":      `false`,
		"contradiction":       `{"type":"integer","minimum":3,"maximum":2}`,
		"endless":             `{"$ref":"#/$defs/endless"}`,
		"too long":            `{"type":"string","minLength":100000}`,
		"too long to show":    `{"type":"string","minLength":1500}`,
		"too many":            `{"type":"array","items":{"type":"integer"},"minItems":1000}`,
		"would be redacted":   `{"const":"sk-live-51H8xyzABCDEFghijklmnop12345"}`,
		"not the first thing": `{"type":"string","not":{"const":"text"}}`,
	} {
		r := explain(t, `{"properties":{"m":`+member+`},"required":["m"],"$defs":{"endless":{"type":"object","properties":{"e":{"$ref":"#/$defs/endless"}},"required":["e"]}}}`, `{}`)
		if !r.Template.IsZero() || r.Issues[0].Example != nil {
			t.Errorf("%s: template %.60s, example %.60v", name, r.Template, r.Issues[0].Example)
		}
	}
}
