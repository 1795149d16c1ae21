package schema_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
	"github.com/candor-mcp/candor/internal/schema"
)

func explain(tb testing.TB, raw, value string) schema.Report {
	tb.Helper()
	return compile(tb, raw).Explain([]byte(value))
}

// lines writes the issues of a report as "path rule".
func lines(r schema.Report) []string {
	var all []string
	for _, issue := range r.Issues {
		all = append(all, issue.Path+" "+issue.Rule)
	}
	return all
}

// difference describes how two values differ, "" if they are equal.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("\n-want %+v\n+got  %+v", want, got)
}

func encode(tb testing.TB, v any) string {
	tb.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func TestEveryFailingPathIsToldAtOnceAndInOrder(t *testing.T) {
	t.Parallel()
	r := explain(t, `{"type":"object","properties":{"z":{"type":"integer"},"list":{"type":"array","items":{"type":"object",
		"properties":{"id":{"type":"string"}},"required":["id"]}},"n":{"minimum":5,"multipleOf":2}},"required":["z","b","a"],"additionalProperties":false}`,
		`{"z":"x","list":[{"id":"ok"},{"id":4},{}],"n":1,"y":1}`)
	want := []string{"/a required", "/b required", "/list/1/id type", "/list/2/id required", "/n minimum", "/n multipleOf", "/y unknown_key", "/z type"}
	if diff := difference(want, lines(r)); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownKeyIsToldItsNeighbours(t *testing.T) {
	t.Parallel()
	const raw = `{"properties":{"workflowId":{},"workflowID2":{},"workflow":{},"worflowId":{},"goal":{}},"additionalProperties":false}`
	r := explain(t, raw, `{"workflow_id":1}`)
	if len(r.Issues) != 1 || r.Issues[0].Path != "/workflow_id" || r.Issues[0].Rule != schema.RuleUnknownKey {
		t.Fatalf("%+v", r.Issues)
	}
	if got := r.Issues[0].Hint; got != `did you mean "workflowId", "workflowID2" or "worflowId"?` {
		t.Errorf("hint: %s", got)
	}
	if got := explain(t, raw, `{"workflow_id":1,"workflowId":2}`).Issues[0].Hint; strings.Contains(got, `"workflowId"`) {
		t.Errorf("a key that was sent is suggested: %s", got)
	}
	if got := explain(t, raw, `{"nothing like it":1}`).Issues[0].Hint; strings.Contains(got, "did you mean") {
		t.Errorf("hint: %s", got)
	}
}

func TestKeyThatWouldBeRefusedIsNotSuggested(t *testing.T) {
	t.Parallel()
	r := explain(t, `{"allOf":[{"properties":{"path":{"type":"string"}}}],"additionalProperties":false}`, `{"pth":"x"}`)
	if len(r.Issues) != 1 || r.Issues[0].Hint != "" {
		t.Errorf("%+v", r.Issues)
	}
}

func TestUnevaluatedKeyIsAnUnknownKey(t *testing.T) {
	t.Parallel()
	r := explain(t, `{"allOf":[{"properties":{"path":{"type":"string"}}}],"unevaluatedProperties":false}`, `{"pth":"x"}`)
	if len(r.Issues) != 1 || r.Issues[0].Rule != schema.RuleUnknownKey || r.Issues[0].Hint != `did you mean "path"?` {
		t.Errorf("%+v", r.Issues)
	}
}

func TestIssueTellsWhatWasExpectedAndWhatWouldPass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		schema, value string
		want          candor.Issue
	}{
		{`{"properties":{"n":{"type":"integer","minimum":3}}}`, `{"n":"7"}`, candor.Issue{Path: "/n", Rule: "type",
			Message: "must be an integer, not a string", Expected: map[string]any{"type": "integer"}, Got: "string",
			Hint: "write the number without quotes"}},
		{`{"properties":{"n":{"type":"integer","minimum":3}}}`, `{"n":1}`, candor.Issue{Path: "/n", Rule: "minimum",
			Message: "must be at least 3", Expected: map[string]any{"minimum": json.Number("3")}, Got: "number"}},
		{`{"properties":{"s":{"enum":["asc","desc"]}}}`, `{"s":"dsc"}`, candor.Issue{Path: "/s", Rule: "enum",
			Message: `must be "asc" or "desc"`, Expected: map[string]any{"enum": []any{"asc", "desc"}}, Got: "string",
			Hint: `did you mean "desc" or "asc"?`, Example: "asc"}},
		{`{"properties":{"d":{"type":"string","format":"date","description":"the day"}},"required":["d"]}`, ``, candor.Issue{Path: "/d",
			Rule: "required", Message: "is missing", Hint: "must be a valid date",
			Expected: map[string]any{"type": "string", "format": "date"}, Example: "2026-01-31"}},
		{`{"properties":{"o":{"enum":["a","b"]}},"required":["o"]}`, ``, candor.Issue{Path: "/o", Rule: "required", Message: "is missing",
			Hint: `must be "a" or "b"`, Expected: map[string]any{"enum": []any{"a", "b"}}, Example: "a"}},
		{`{"properties":{"u":{"anyOf":[{"type":"object","properties":{"k":{}}},{"type":"array","items":{"type":"string"}}]}}}`, `{"u":"x"}`, candor.Issue{
			Path: "/u", Rule: "type", Message: "must be an array or an object, not a string", Got: "string",
			Hint: "send a list with it or an object {k}", Expected: map[string]any{"type": []string{"array", "object"}}}},
		{`{"properties":{"l":{"type":"array","items":{"type":"string"}}}}`, `{"l":"x"}`, candor.Issue{Path: "/l", Rule: "type",
			Message: "must be an array, not a string", Expected: map[string]any{"type": "array"}, Got: "string",
			Hint: "put it in a list"}},
		{`{"type":"object"}`, `[]`, candor.Issue{Rule: "type", Message: "must be an object, not an array",
			Expected: map[string]any{"type": "object"}, Got: "array"}},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, `1`, candor.Issue{Rule: "exclusiveMinimum",
			Message: "must be more than 1", Expected: map[string]any{"minimum": json.Number("1"), "exclusiveMinimum": true}, Got: "number"}},
	} {
		r := explain(t, c.schema, c.value)
		if diff := difference([]candor.Issue{c.want}, r.Issues); diff != "" {
			t.Errorf("%s with %s: %s", c.schema, c.value, diff)
		}
	}
}

func TestClosestAlternativeIsTold(t *testing.T) {
	t.Parallel()
	const raw = `{"properties":{"shape":{"oneOf":[
		{"type":"object","properties":{"kind":{"const":"circle"},"r":{"type":"number"}},"required":["kind","r"]},
		{"type":"object","properties":{"kind":{"const":"box"},"w":{"type":"number"},"h":{"type":"number"}},"required":["kind","w","h"]},
		{"type":"null"}]}},"required":["shape"]}`
	r := explain(t, raw, `{"shape":{"kind":"box"}}`)
	if diff := difference([]string{"/shape/h required", "/shape/w required"}, lines(r)); diff != "" {
		t.Error(diff)
	}
	if got := r.Issues[0].Hint; got != "this is the closest of 3 alternatives" {
		t.Errorf("hint: %s", got)
	}
	if got := r.Template.String(); got != `{"shape":{"h":1,"kind":"box","w":1}}` {
		t.Errorf("template: %s", got)
	}
	r = explain(t, raw, `{"shape":{"kind":"ring"}}`)
	if len(r.Issues) != 1 || r.Issues[0].Path != "/shape/kind" || r.Issues[0].Message != `must be "circle" or "box"` {
		t.Errorf("%+v", r.Issues)
	}
	r = explain(t, raw, `{"shape":"x"}`)
	if len(r.Issues) != 1 || r.Issues[0].Message != "must be an object or null, not a string" {
		t.Errorf("%+v", r.Issues)
	}
	r = explain(t, `{"oneOf":[{"type":"number"},{"type":"integer"}]}`, `1`)
	if diff := difference([]string{" oneOf"}, lines(r)); diff != "" {
		t.Error(diff)
	}
}

// The library reports names at a place that it goes on to overwrite; see nameRule.
func TestMisnamedKeysAreToldAtTheirOwnPlace(t *testing.T) {
	t.Parallel()
	for range 20 {
		r := explain(t, `{"additionalProperties":{"additionalProperties":{"propertyNames":{"maxLength":2}}}}`,
			`{"a":{"x":{"long":1}},"b":{"y":{"long":1}},"c":{"z":{"ok":1}}}`)
		if diff := difference([]string{"/a/x/long propertyNames", "/b/y/long propertyNames"}, lines(r)); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestNoValueOfTheCallerIsRepeated(t *testing.T) {
	t.Parallel()
	const mark = "zz9value"
	r := newRandom(3)
	told := 0
	for range 700 {
		raw := r.schema(2, false)
		s, err := schema.Compile([]byte(raw))
		if err != nil {
			continue
		}
		value := strings.ReplaceAll(r.near(t, raw), `"red"`, `"blue"`)
		for _, text := range []string{`"x"`, `"blue"`, `"abcdefgh"`, `"xx-1"`} {
			value = strings.ReplaceAll(value, text, `"`+mark+`"`)
		}
		report := s.Explain([]byte(value))
		if !report.OK() && strings.Contains(value, mark) {
			told++
		}
		if text := encode(t, report); strings.Contains(text, mark) {
			t.Fatalf("schema %s\nvalue %s\nreport %s", raw, value, text)
		}
	}
	if told < 50 {
		t.Errorf("only %d reports were about marked values", told)
	}
}

func TestReportIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	const raw = `{"properties":{"a":{"type":"string"},"b":{"type":"integer"},"o":{"properties":{"x":{},"y":{}},"additionalProperties":false,"propertyNames":{"maxLength":1}}},
		"patternProperties":{"^p":{"type":"null"},"q$":{"type":"null"}},"dependentRequired":{"a":["k","l"],"b":["k"]},"minProperties":9,"additionalProperties":{"anyOf":[{"type":"null"},{"minimum":4}]}}`
	const value = `{"a":1,"b":"x","o":{"xx":1,"yy":2},"pq":1,"r":1,"s":2,"t":3}`
	s := compile(t, raw)
	want := encode(t, s.Explain([]byte(value)))
	for i := range 200 {
		if i%20 == 0 {
			s = compile(t, raw)
		}
		if got := encode(t, s.Explain([]byte(value))); got != want {
			t.Fatalf("first %s\nthen %s", want, got)
		}
	}
}

func TestIssuesAreBoundedAndTheRestCounted(t *testing.T) {
	t.Parallel()
	r := explain(t, `{"items":{"type":"string"}}`, "["+strings.Repeat("1,", 199)+"1]")
	if len(r.Issues) != 50 || r.More != 150 {
		t.Errorf("%d issues and %d more", len(r.Issues), r.More)
	}
	long := strings.Repeat("k", 5000)
	r = explain(t, fmt.Sprintf(`{"additionalProperties":false,"required":[%q],"properties":{"e":{"enum":[%q,2]}}}`, long, long), fmt.Sprintf(`{%q:1,"e":3}`, long+"\n"))
	if text := encode(t, r); len(text) > 4000 {
		t.Errorf("the report has %d bytes: %s", len(text), text)
	}
}

func TestKeysOfTheCallerAreCleaned(t *testing.T) {
	t.Parallel()
	r := explain(t, `{"additionalProperties":false}`, `{"a\n\u001b[31mb/c~":1}`)
	if got := r.Issues[0].Path; got != "/a b~1c~0" {
		t.Errorf("path %q", got)
	}
}

func TestSameFaultFoundTwiceIsToldOnce(t *testing.T) {
	t.Parallel()
	r := explain(t, `{"allOf":[{"required":["a"]},{"required":["a"]},{"$ref":"#/$defs/d"}],"$defs":{"d":{"required":["a"]}}}`, `{}`)
	if diff := difference([]string{"/a required"}, lines(r)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsInOrderHasAnEmptyReport(t *testing.T) {
	t.Parallel()
	if r := explain(t, benchSchema, benchValue); !r.OK() || !r.Template.IsZero() || r.More != 0 {
		t.Errorf("%+v", r)
	}
}

func TestIssuesFitIntoAnError(t *testing.T) {
	t.Parallel()
	r := explain(t, benchSchema, `{"qery":1,"limit":1000}`)
	err := candor.New(kaiza.InvalidInputType, "", candor.WithTool("search"), candor.WithIssues(r.Issues...))
	back := schema.Report{Issues: err.Details().Issues()}
	if diff := difference(lines(r), lines(back)); diff != "" {
		t.Error(diff)
	}
	if !slices.ContainsFunc(back.Issues, func(i candor.Issue) bool { return i.Hint == `did you mean "query"?` }) {
		t.Errorf("%+v", back.Issues)
	}
}
