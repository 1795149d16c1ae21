package workflow_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
)

// file returns a file with these steps, which begin in line 3.
func file(steps string) string { return "id: w\nname: W\nsteps:\n" + steps }

// loop returns a file with a loop of one step and these keys, which begin in line 6.
func loop(keys string) string {
	return file("  - id: l\n    loop:\n      steps: [{id: a, prompt: p}]\n      " + strings.ReplaceAll(keys, "\n", "\n      ") + "\n")
}

// when returns a file with a step that has this condition in line 4.
func when(condition string) string { return file("  - {id: a, prompt: p, when: " + condition + "}\n") }

// TestParseReadsEveryField is long because it has every field twice: in the file and in Go.
func TestParseReadsEveryField(t *testing.T) {
	t.Parallel()
	const text = `
id: w
name: " The name "
version: "1.0"
description: d
guidance: [g]
capabilities: [{name: shell, description: d, required: true}]
context: [{key: units, description: d, required: true}, {key: n}]
steps:
  - id: first
    title: First
    prompt: |
      Do {{n}}.
    guidance: [h]
    requires: [units, n]
    when: {all: [{key: n, atLeast: 1.50}, {not: {key: n, in: [1, x]}}]}
    notes: none
    output: {description: d, schema: {type: object, maxProperties: 2.0}, optional: true}
    capabilities: [shell]
    askUser: {question: q, key: answer}
  - id: second
    loop:
      each: units
      index: i
      maxIterations: 3
      steps:
        - {id: third, prompt: "{{item.path}} {{i}}"}
  - id: fourth
    loop: {times: n, maxIterations: 3, onLimit: leave, steps: [{id: fifth, prompt: p}]}
`
	want := &workflow.Workflow{
		ID: "w", Name: "The name", Version: "1.0", Description: "d", Guidance: []string{"g"},
		Capabilities: []workflow.Capability{{Name: "shell", Description: "d", Required: true}},
		Context:      []workflow.ContextKey{{Key: "units", Description: "d", Required: true}, {Key: "n"}},
		Steps: []workflow.Step{
			{
				ID: "first", Title: "First", Prompt: "Do {{n}}.", Guidance: []string{"h"}, Requires: []string{"units", "n"},
				When: &workflow.Condition{Op: workflow.OpAll, Of: []workflow.Condition{
					{Op: workflow.OpAtLeast, Key: "n", Value: json.Number("1.50")},
					{Op: workflow.OpNot, Of: []workflow.Condition{{Op: workflow.OpIn, Key: "n", Value: []any{json.Number("1"), "x"}}}},
				}},
				Notes:        workflow.NotesNone,
				Output:       &workflow.Output{Description: "d", Schema: json.RawMessage(`{"maxProperties":2,"type":"object"}`), Optional: true},
				Capabilities: []string{"shell"}, AskUser: &workflow.Question{Question: "q", Key: "answer"},
			},
			{ID: "second", Loop: &workflow.Loop{
				Kind: workflow.LoopEach, Each: "units", As: "item", Index: "i", MaxIterations: 3, OnLimit: workflow.LimitFails,
				Steps: []workflow.Step{{ID: "third", Prompt: "{{item.path}} {{i}}", Notes: workflow.NotesRequired}},
			}},
			{ID: "fourth", Loop: &workflow.Loop{
				Kind: workflow.LoopTimes, Times: workflow.Count{Key: "n"}, MaxIterations: 3, OnLimit: workflow.LimitLeaves,
				Steps: []workflow.Step{{ID: "fifth", Prompt: "p", Notes: workflow.NotesRequired}},
			}},
		},
	}
	got, problems := workflow.Check("w.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(workflow.Condition{})); diff != "" {
		t.Error(diff)
	}
	var ids []string
	for s := range got.All {
		ids = append(ids, s.ID)
	}
	if got := strings.Join(ids, " "); got != "first second third fourth fifth" {
		t.Errorf("All: %s", got)
	}
}

// TestParseReportsEveryProblemWithItsPosition has a file for each problem.
func TestParseReportsEveryProblemWithItsPosition(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{ // line:column: message | hint
		"":                       "file: empty | a workflow begins with id: and name:",
		"- a":                    "1:1: workflow: want a mapping, got a list | keys such as id: …",
		"id: w\nname: W\n":       "1:1: workflow: steps is missing | add steps:",
		"id: w\nname: W\nsteps:": "3:8: steps: want a list, got nothing |",
		file("  []"):             "steps: empty list |",
		"id: a b\nname: W\nsteps: [{id: a, prompt: p}]":                                                 `1:5: id: "a b" is not valid`,
		"id: w\nname: 3\nsteps: [{id: a, prompt: p}]":                                                   "2:7: name: want text, got a number | put quotes around it",
		"id: w\nname: ' '\nsteps: [{id: a, prompt: p}]":                                                 "2:7: name: empty",
		"id: w\nname: W\nid: x\nsteps: [{id: a, prompt: p}]":                                            `3:1: duplicate key "id"`,
		"id: w\nname: W\nstep: x\nsteps: [{id: a, prompt: p}]":                                          `3:1: workflow: unknown key "step" | did you mean "steps"?`,
		"id: w\nname: W\nsteps: [{id: a, prompt: *x}]":                                                  `unknown anchor "x" | define the anchor`,
		"id: w\nname: W\n<<: {}\nsteps: [{id: a, prompt: p}]":                                           "3:1: merge keys (<<) are not supported",
		"id: w\nname: !!str W\nsteps: [{id: a, prompt: p}]":                                             "value has no JSON form",
		"id: w\nname: \"\\e\"\nsteps: [{id: a, prompt: p}]":                                             "2:7: name: contains a control character",
		file("  - {id: a, promt: p}"):                                                                   `4:13: step "a": unknown key "promt" | did you mean "prompt"?`,
		file("  - {id: a}"):                                                                             `4:6: step "a": has neither a prompt nor a loop | add prompt:`,
		file("  - {prompt: p}"):                                                                         "4:6: step: id is missing | add id:",
		file("  - {id: a, prompt: p}\n  - {id: a, prompt: p}"):                                          `5:10: step id "a" appears twice`,
		file("  - {id: a, prompt: p, notes: require}"):                                                  `step "a": notes: got "require", want "required", "optional" or "none" | did you mean "required"?`,
		file("  - {id: a, prompt: p, capabilities: [shell]}"):                                           `capability "shell" is not declared`,
		file("  - {id: a, prompt: p, requires: [a b]}"):                                                 `requires: "a b" is not valid`,
		file("  - {id: a, prompt: p, requires: [b, b]}"):                                                `"b" appears twice`,
		file("  - {id: a, prompt: p, output: {schema: {type: x}}}"):                                     `step "a": schema:`,
		file("  - {id: a, prompt: p, output: {schema: 3}}"):                                             "schema: want a mapping, got a number",
		file("  - {id: a, prompt: p, askUser: {question: q}}"):                                          "askUser: key is missing",
		file("  - {id: a, prompt: p, loop: {times: 1, maxIterations: 1, steps: [{id: b, prompt: p}]}}"): "4:13: step \"a\": a step with a loop cannot have prompt | move it",
		loop("until: {key: x, equals: 1}"):                                                              "maxIterations is missing | add maxIterations: a number from 1 to 1000, so that the loop ends",
		loop("maxIterations: 5"):                                                                        "loop does not say when it ends | add while:",
		loop("maxIterations: 0\ntimes: 1"):                                                              "maxIterations: 0 is out of range, or not a whole number | give a whole number from 1 to 1000",
		loop("maxIterations: 1001\ntimes: 1"):                                                           "maxIterations: 1001 is out of range",
		loop("maxIterations: many\ntimes: 1"):                                                           "maxIterations: want a number, got text",
		loop("maxIterations: 5\ntimes: 6"):                                                              "6 times, but maxIterations is 5 | raise maxIterations",
		loop("maxIterations: 5\ntimes: 1\neach: x"):                                                     "loop has both times and each",
		loop("maxIterations: 5\ntimes: 1\nas: x"):                                                       "only a loop with each can have as",
		loop("maxIterations: 5\nonLimit: stop\ntimes: 1"):                                               `onLimit: got "stop", want "fail" or "leave"`,
		loop("maxIterations: 5\nwhile: true"):                                                           "loop: want a mapping, got true or false",
		when("{key: x}"):                                                                                `4:31: step "a": when: condition compares nothing | add one of "equals"`,
		when("{}"):                                                                                      "condition compares nothing",
		when("{key: x, equals: }"):                                                                      "equals: condition compares nothing | use exists: false",
		when("{equals: 1}"):                                                                             "condition has no key",
		when("{key: x, equals: 1, in: [1]}"):                                                            "condition has both equals and in | write two conditions below all:",
		when("{key: x, equal: 1}"):                                                                      `unknown key "equal" | did you mean "equals"`,
		when("{key: x, all: [{key: x, equals: 1}]}"):                                                    "all cannot have a key",
		when("{any: []}"):                                                                               "empty list",
		when("{key: x, greaterThan: y}"):                                                                "greaterThan: want a number, got text",
		when("{key: x, exists: 1}"):                                                                     "exists: want true or false, got a number",
		when("{key: x, in: y}"):                                                                         "in: want a list, got text",
		when("{key: x, matches: '('}"):                                                                  "matches: error parsing regexp",
		when("{key: x, matches: '(a{500}){2}'}"):                                                        "matches: a pattern that takes",
		when("{key: x.1, equals: 1}"):                                                                   `key: "x.1" is not valid`,
		strings.Repeat("[", 65):                                                                         "more than 64 nested brackets",
		"id: w\x00":                                                                                     "the file is not text",
		"id: \xff":                                                                                      "file: not UTF-8 text | save it as UTF-8",
	} {
		_, err := workflow.Parse("w.yaml", []byte(text))
		list, ok := errors.AsType[*workflow.Error](err)
		if !ok || len(list.Problems) == 0 {
			t.Errorf("%q: %v", text, err)
			continue
		}
		found := make([]string, 0, len(list.Problems))
		for _, p := range list.Problems {
			found = append(found, fmt.Sprintf("%d:%d: %s | %s", p.Line, p.Column, p.Message, p.Hint))
			if p.File != "w.yaml" || p.Severity != workflow.SeverityError {
				t.Errorf("%q: file %q, severity %q", text, p.File, p.Severity)
			}
		}
		if !strings.Contains(strings.Join(found, "\n"), want) {
			t.Errorf("%q:\n got %s\nwant %s", text, strings.Join(found, "\n     "), want)
		}
	}
}

func TestParseListsManyProblemsInOrder(t *testing.T) {
	t.Parallel()
	_, err := workflow.Parse("w.yaml", []byte(file(strings.Repeat("  - {id: a, promt: p}\n", 300))))
	list, ok := errors.AsType[*workflow.Error](err)
	if !ok || len(list.Problems) != workflow.MaxProblems+1 {
		t.Fatal(err)
	}
	if last := list.Problems[workflow.MaxProblems]; last.Message != "and 499 more, which are not listed" {
		t.Errorf("the last one is %+v", last)
	}
	for i := 1; i < workflow.MaxProblems; i++ {
		if list.Problems[i].Line < list.Problems[i-1].Line {
			t.Errorf("line %d after line %d", list.Problems[i].Line, list.Problems[i-1].Line)
		}
	}
	const want = "w.yaml:4:13: step \"a\": unknown key \"promt\"\n  4 |   - {id: a, promt: p}\n    |             ^\n  hint: did you mean \"prompt\"?\n"
	if !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got\n%s\nwant prefix\n%s", err, want)
	}
}

func TestCheckWarnsOfUndeclaredKeys(t *testing.T) {
	t.Parallel()
	const text = `id: w
name: W
context: [{key: found}]
steps:
  - {id: a, prompt: "{{fund}} {{answer}} {{found.x}}", requires: [other, other.x]}
  - {id: b, prompt: p, askUser: {question: "{{missing}}", key: answer}}
  - id: c
    loop:
      each: units
      as: unit
      maxIterations: 1
      steps:
        - {id: d, prompt: "{{unit.path}}", when: {key: unit, exists: true}, askUser: {question: q, key: again}}
  - {id: e, prompt: "{{unit}}"}
`
	w, problems := workflow.Check("w.yaml", []byte(text))
	if w == nil {
		t.Fatal(problems)
	}
	var got []string
	for _, p := range problems {
		if p.Severity != workflow.SeverityWarning {
			t.Errorf("severity %q", p.Severity)
		}
		got = append(got, fmt.Sprintf("%d: %s (%s)", p.Line, p.Message, p.Hint))
	}
	want := []string{
		`5: context key "fund" is used but not declared (did you mean "found"?)`,
		`5: context key "other" is used but not declared (declare it under context:)`,
		`6: context key "missing" is used but not declared (declare it under context:)`,
		`9: context key "units" is used but not declared (declare it under context:)`,
		`13: step "d": askUser in a loop asks only once, because "again" keeps its value (ask before the loop)`,
		`14: context key "unit" is used but not declared (declare it under context:)`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	data, err := json.Marshal(problems[0])
	if err != nil || !strings.Contains(string(data), `"file":"w.yaml","line":5,"column":21,"severity":"warning","message":`) {
		t.Errorf("%s, %v", data, err)
	}
}

func TestLoopNamesMustBeNew(t *testing.T) {
	t.Parallel()
	for _, keys := range []string{"as: x, index: x", "as: declared", "index: declared", "as: outer"} {
		text := "id: w\nname: W\ncontext: [{key: declared}]\nsteps:\n" +
			"  - {id: o, loop: {times: 2, index: outer, maxIterations: 2, steps: [{id: i, loop: {each: declared, maxIterations: 2, " + keys +
			", steps: [{id: a, prompt: p}]}}]}}\n"
		if _, err := workflow.Parse("w.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "is already a context key or belongs to a loop") {
			t.Errorf("%s: %v", keys, err)
		}
	}
}

func TestLimitsAreExact(t *testing.T) {
	t.Parallel()
	steps := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "  - {id: s%d, prompt: p}\n", i)
		}
		return file(b.String())
	}
	nested := func(n int) string {
		inner := "{id: a, prompt: p}"
		for i := range n {
			inner = fmt.Sprintf("{id: l%d, loop: {times: 1, maxIterations: 1, steps: [%s]}}", i, inner)
		}
		return file("  - " + inner)
	}
	conditions := func(n int) string {
		return when(strings.Repeat("{not: ", n-1) + "{key: x, equals: 1}" + strings.Repeat("}", n-1))
	}
	prompt := func(n int) string {
		return `{"id":"w","name":"W","steps":[{"id":"a","prompt":"` + strings.Repeat("x", n) + `"}]}`
	}
	padded := func(n int) string {
		text := prompt(1)
		return text + strings.Repeat("\n", n-len(text))
	}
	for _, c := range []struct {
		name  string
		text  func(int) string
		limit int
		want  string
	}{
		{"steps", steps, workflow.MaxSteps, "limit 500"},
		{"depth", nested, workflow.MaxDepth, "more than 8 loops inside each other"},
		{"conditions", conditions, workflow.MaxConditionDepth, "more than 8 conditions inside each other"},
		{"prompt", prompt, workflow.MaxPromptBytes, "16385 bytes, limit 16384"},
		{"file", padded, workflow.MaxBytes, "larger than 1024 KiB"},
	} {
		if _, err := workflow.Parse("w", []byte(c.text(c.limit))); err != nil {
			t.Errorf("%s, at the limit: %v", c.name, err)
		}
		if _, err := workflow.Parse("w", []byte(c.text(c.limit+1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, beyond the limit: %v", c.name, err)
		}
	}
}

func TestAliasesAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("id: w\nname: W\na: &a0 [x]\n")
	for i := 1; i < 20; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	if _, err := workflow.Parse("w.yaml", []byte(b.String())); err == nil || !strings.Contains(err.Error(), "more than 100000 values") {
		t.Error(err)
	}
	if _, err := workflow.Parse("w.yaml", []byte("id: &a [*a]\n")); err == nil || !strings.Contains(err.Error(), "unknown anchor") {
		t.Error(err)
	}
	big := file("  - &s {id: a, prompt: p, output: {schema: &o {description: \"" + strings.Repeat("x", 7000) + "\"}}}\n")
	for i := range 200 {
		big += fmt.Sprintf("  - {id: s%d, prompt: p, output: {schema: *o}}\n", i)
	}
	if _, err := workflow.Parse("w.yaml", []byte(big)); err == nil || !strings.Contains(err.Error(), "larger than 1024 KiB with its aliases filled in") {
		t.Errorf("%.300v", err)
	}
}

func TestJSONFilesHavePositionsToo(t *testing.T) {
	t.Parallel()
	const text = "\uFEFF{\n\t\"id\": \"w\", \"näme\": \"W\", \"name\": \"W\",\n\t\"steps\": [{\"id\": \"a\", \"id\": \"b\", \"prompt\": 3}]\n}\n"
	_, err := workflow.Parse("w.json", []byte(text))
	if err == nil || !strings.Contains(err.Error(), "w.json:3:24: key \"id\" appears twice") {
		t.Error(err)
	}
	_, err = workflow.Parse("w.json", []byte(strings.Replace(text, `"id": "b", `, "", 1)))
	for _, want := range []string{`w.json:2:13: workflow: unknown key "näme"`, `w.json:3:34: step "a": prompt: want text, got a number`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
	for text, want := range map[string]string{
		"{\"id\": \"w\",\n}":     "w.json:2:1: not JSON: invalid character '}'",
		"id: w":                  "w.json:1:1: not JSON: ",
		"{\"id\": \"w\"":         "w.json:1:10: not JSON: unexpected end of JSON input",
		"{\"id\": 1e9999999999}": "number \"1e9999999999\": out of range",
		strings.Repeat("[", 70) + strings.Repeat("]", 70): "more than 64 values inside each other",
	} {
		if _, err := workflow.Parse("w.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: got %v\nwant %s", text, err, want)
		}
	}
}
