package workflow_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	"github.com/candor-mcp/candor/internal/jsontext"
)

// TestConditionOperators tests each operator with values for which it holds, does not hold, and fails.
func TestConditionOperators(t *testing.T) {
	t.Parallel()
	context := map[string]any{}
	d := json.NewDecoder(strings.NewReader(`{"n": 5, "big": 9007199254740993, "text": "hello", "list": [1, "a", {"x": 1.0}], "yes": true, "no": false,
		"nothing": null, "object": {"x": 1, "y": {"z": "deep"}}}`))
	d.UseNumber()
	if err := d.Decode(&context); err != nil {
		t.Fatal(err)
	}
	context["float"] = 2.5
	for condition, want := range map[string]string{ // true, false, or a part of the error
		"{key: n, equals: 5}":                                     "true",
		"{key: n, equals: 5.0}":                                   "true",
		"{key: n, equals: '5'}":                                   "false",
		"{key: big, equals: 9007199254740992}":                    "false",
		"{key: big, greaterThan: 9007199254740992}":               "true",
		"{key: float, equals: 2.50}":                              "true",
		"{key: no, equals: false}":                                "true",
		"{key: object, equals: {y: {z: deep}, x: 1}}":             "true",
		"{key: object.y.z, equals: deep}":                         "true",
		"{key: object.y.q, equals: deep}":                         "false",
		"{key: text.y, exists: true}":                             "false",
		"{key: missing, equals: 1}":                               "false",
		"{key: n, notEquals: 5}":                                  "false",
		"{key: n, notEquals: 6}":                                  "true",
		"{key: missing, notEquals: 6}":                            "true",
		"{key: nothing, notEquals: 6}":                            "true",
		"{key: n, in: [4, 5]}":                                    "true",
		"{key: n, in: [4, '5']}":                                  "false",
		"{key: missing, in: [1]}":                                 "false",
		"{key: n, greaterThan: 4.999}":                            "true",
		"{key: n, greaterThan: 5}":                                "false",
		"{key: n, atLeast: 5}":                                    "true",
		"{key: n, atLeast: 5.1}":                                  "false",
		"{key: n, lessThan: 5}":                                   "false",
		"{key: n, lessThan: 10}":                                  "true",
		"{key: n, atMost: 5}":                                     "true",
		"{key: n, atMost: -5}":                                    "false",
		"{key: missing, atMost: 5}":                               "false",
		"{key: text, atMost: 5}":                                  `context key "text": atMost needs a number, got a string`,
		"{key: text, contains: ell}":                              "true",
		"{key: text, contains: ELL}":                              "false",
		"{key: text, contains: 1}":                                "contains needs a list, got a string",
		"{key: list, contains: a}":                                "true",
		"{key: list, contains: {x: 1}}":                           "true",
		"{key: list, contains: b}":                                "false",
		"{key: object, contains: x}":                              "contains needs a string or a list, got an object",
		"{key: missing, contains: x}":                             "false",
		"{key: text, matches: '^h.*o$'}":                          "true",
		"{key: text, matches: '^h$'}":                             "false",
		"{key: list, matches: h}":                                 "matches needs a string, got an array",
		"{key: yes, exists: true}":                                "true",
		"{key: no, exists: true}":                                 "true",
		"{key: nothing, exists: true}":                            "false",
		"{key: missing, exists: false}":                           "true",
		"{all: [{key: n, equals: 5}, {key: yes, equals: true}]}":  "true",
		"{all: [{key: n, equals: 4}, {key: text, atMost: 5}]}":    "false", // the second is not evaluated
		"{all: [{key: n, equals: 5}, {key: text, atMost: 5}]}":    "atMost needs",
		"{any: [{key: n, equals: 4}, {key: yes, equals: true}]}":  "true",
		"{any: [{key: n, equals: 5}, {key: text, atMost: 5}]}":    "true",
		"{any: [{key: n, equals: 4}, {key: yes, equals: false}]}": "false",
		"{not: {key: n, equals: 4}}":                              "true",
		"{not: {not: {key: n, equals: 4}}}":                       "false",
		"{not: {key: text, atMost: 5}}":                           "atMost needs",
	} {
		c := mustParse(t, when(condition)).Steps[0].When
		holds, err := c.Eval(func(key string) (any, bool) { return jsontext.Lookup(context, key) })
		got := map[bool]string{true: "true", false: "false"}[holds]
		if err != nil {
			if _, ok := errors.AsType[*workflow.EvalError](err); !ok || holds {
				t.Errorf("%s: %T, %v", condition, err, holds)
			}
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", condition, got, want)
		}
	}
}

func TestExpandReplacesKnownPlaceholdersOnce(t *testing.T) {
	t.Parallel()
	values := map[string]string{"a": "{{b}}", "b": "B", "c.d": "CD"}
	got := workflow.Expand("{{a}} {{ b }} {{c.d}} {{x}} {{}} {{a b}} {a} {{{b}}} ${{ b }}", func(key string) (string, bool) {
		v, ok := values[key]
		return v, ok
	})
	if want := "{{b}} B CD {{x}} {{}} {{a b}} {a} {B} $B"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
