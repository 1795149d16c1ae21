package schema_test

import (
	"encoding/json"
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
	if made*3 < tried || shown < 40 {
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
		{`{"type":"string","format":"uuid"}`, `"00000000-0000-4000-8000-000000000000"`, true},
		{`{"type":"string","minLength":6}`, `"textxx"`, false},
		{`{"type":"string","pattern":"^[a-z]+$"}`, `"text"`, false},
		{`{"type":"integer"}`, `1`, false},
		{`{"type":"integer","maximum":-4}`, `-4`, false},
		{`{"type":"boolean"}`, `true`, false},
		{`{"type":"array","items":false}`, `[]`, false},
		{`{"anyOf":[{"type":"string","format":"date"},{"type":"null"}]}`, `"2026-01-31"`, true},
		{`{"oneOf":[false,{"type":"integer"}]}`, `1`, false},
		{`{"allOf":[{"type":"number","minimum":2},{"type":"integer","minimum":4}]}`, `4`, false},
		{`{"$ref":"#/$defs/leaf"}`, `{"name":"text"}`, false},
		{`{"$ref":"#/$defs/tree"}`, `{"leaf":{"name":"text"}}`, false},
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
		"another pattern":     `{"type":"string","pattern":"^gls_[a-z]+$"}`,
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

// TestSecretInASchemaIsNotRepeated checks every member of the issues and the template. A name on the path says that the
// value is a secret.
func TestSecretInASchemaIsNotRepeated(t *testing.T) {
	t.Parallel()
	const secret = "zz9secret-0123456789abcdef"
	for _, schema := range []string{
		`{"params":{"type":"object","properties":{"Authorization":{"type":"string","default":"%"},"api_key":{"enum":["%"]},"token":{"const":"%"}},"required":["Authorization","api_key","token"]}}`,
		`{"auth":{"type":"object","properties":{"value":{"type":"string","default":"%"}},"required":["value"]}}`,
		`{"password":{"type":"object","properties":{"value":{"type":"string","examples":["%"]}},"required":["value"]}}`,
		`{"tokens":{"type":"array","items":{"type":"string","default":"%"}}}`, `{"tokens":{"type":"array","default":["%"]}}`,
		`{"config":{"type":"object","default":{"apiKey":"%"},"required":["apiKey"]}}`, `{"config":{"type":"object","properties":{"ak":{"default":"%"}},"required":["ak"]}}`,
		`{"pass":{"type":"string","default":"%"},"AWS_SK":{"type":"string","default":"%"},"key":{"type":"string","default":"%"}}`,
		`{"api_key":{"type":"string","pattern":"^%$"}}`, `{"api_key":{"type":"string","description":"use %."}}`, `{"api_key":{"enum":["%"]}}`,
		`{"api_key":{"anyOf":[{"type":"string","default":"%"},{"type":"integer"}]}}`, `{"name":{"$ref":"#/$defs/s"},"secret":{"$ref":"#/$defs/s"}}`,
	} {
		s := compile(t, `{"type":"object","properties":`+strings.ReplaceAll(schema, "%", secret)+`,"required":["params","auth","password","tokens","config","pass","AWS_SK","key","api_key","secret"],`+
			`"$defs":{"s":{"type":"string"}}}`)
		for _, got := range []string{`x`, `{"Authorization":1,"api_key":"q","token":2,"value":3,"ak":4}`, `{}`, `[5]`, `"zz9secret-0123456789abcdee"`} {
			var value strings.Builder
			for _, name := range []string{"params", "auth", "password", "tokens", "config", "pass", "AWS_SK", "key", "api_key", "secret"} {
				if got != "x" { // otherwise the keys are missing
					value.WriteString(`,"` + name + `":` + got)
				}
			}
			r := s.Explain([]byte(strings.Replace(`{`+value.String()+`}`, `{,`, `{`, 1)))
			if raw, err := json.Marshal(r); err != nil || got == "x" && len(r.Issues) < 10 || strings.Contains(string(raw), secret) {
				t.Errorf("%s, %s: %s %v", schema, got, raw, err)
			}
		}
	}
	// One schema may describe a secret and another value, and harmless values are shown.
	s := compile(t, `{"properties":{"auth":{"enum":["basic","bearer"]},"secret":{"$ref":"#/$defs/s"},"name":{"$ref":"#/$defs/s"},"key":{"default":"PROJ-123","type":"string"}},"$defs":{"s":{"type":"string","default":"ann9-smith"}}}`)
	r := s.Explain([]byte(`{"auth":"x","secret":1,"name":1,"key":1}`))
	if got := encode(t, r.Issues); strings.Count(got, "ann9-smith") != 1 || !strings.Contains(got, "basic") || !strings.Contains(got, "PROJ-123") {
		t.Errorf("%s", got)
	}
}
