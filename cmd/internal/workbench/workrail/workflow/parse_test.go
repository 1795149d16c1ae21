package workflow_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	"github.com/candor-mcp/candor/cmd/internal/yamlfile"
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
					{Op: workflow.OpAtLeast, Key: "n", Value: json.Number("1.5")},
					{Op: workflow.OpNot, Of: []workflow.Condition{{Op: workflow.OpIn, Key: "n", Value: []any{json.Number("1"), "x"}}}},
				}},
				Notes:        workflow.NotesNone,
				Output:       &workflow.Output{Description: "d", Schema: json.RawMessage(`{"maxProperties":2,"type":"object"}`), Optional: true},
				Capabilities: []string{"shell"}, AskUser: &workflow.Question{Question: "q", Key: "answer"},
			},
			{ID: "second", Loop: &workflow.Loop{
				Each: "units", As: "item", Index: "i", MaxIterations: 3, OnLimit: workflow.LimitFails,
				Steps: []workflow.Step{{ID: "third", Prompt: "{{item.path}} {{i}}", Notes: workflow.NotesRequired}},
			}},
			{ID: "fourth", Loop: &workflow.Loop{
				Times: &workflow.Count{Key: "n"}, MaxIterations: 3, OnLimit: workflow.LimitLeaves,
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
		"- a":                    "1:1: workflow: must be an object, not an array",
		"id: w\nname: W\n":       `1:1: steps: is missing`,
		"id: w\nname: W\nsteps:": "3:1: steps: must be an array, not null",
		file("  []"):             "3:1: steps: must have at least 1 item",
		"id: a b\nname: W\nsteps: [{id: a, prompt: p}]":                                                 "1:1: id: must match the pattern ^[A-Za-z0-9][A-Za-z0-9_-]*$ | give a text that is not empty; a name has letters",
		"id: w\nname: 3\nsteps: [{id: a, prompt: p}]":                                                   "2:1: name: must be a string, not a number",
		"id: w\nname: ' '\nsteps: [{id: a, prompt: p}]":                                                 `2:1: name: must match the pattern \S | give a text that is not empty`,
		"id: w\nname: W\nid: x\nsteps: [{id: a, prompt: p}]":                                            `3:1: duplicate key "id"`,
		"id: w\nname: W\nstep: x\nsteps: [{id: a, prompt: p}]":                                          `3:1: step: is not a known key | known keys: "$schema", "capabilities"`,
		"id: w\nname: W\nsteps: [{id: a, prompt: *x}]":                                                  "anchors and aliases are not supported | write the value out",
		"id: w\nname: W\n<<: {}\nsteps: [{id: a, prompt: p}]":                                           "3:1: merge keys (<<) are not supported",
		"id: w\nname: !!str W\nsteps: [{id: a, prompt: p}]":                                             "value has no JSON form",
		"id: w\nname: \"\\e\"\nsteps: [{id: a, prompt: p}]":                                             "2:1: name: contains a control character",
		file("  - {id: a, promt: p}"):                                                                   `4:13: steps/0/promt: is not a known key | did you mean "prompt"?`,
		file("  - {id: a}"):                                                                             `4:6: steps/0/prompt: is missing`,
		file("  - {prompt: p}"):                                                                         `4:6: steps/0/id: is missing`,
		file("  - {id: a, prompt: p}\n  - {id: a, prompt: p}"):                                          `5:6: steps/1/id: step id "a" appears twice`,
		file("  - {id: a, prompt: p, notes: require}"):                                                  `steps/0/notes: must be "required", "optional" or "none" | did you mean "required"?`,
		file("  - {id: a, prompt: p, capabilities: [shell]}"):                                           `capability "shell" is not declared`,
		file("  - {id: a, prompt: p, requires: [a b]}"):                                                 "4:35: steps/0/requires/0: must match the pattern",
		file("  - {id: a, prompt: p, requires: [b, b]}"):                                                "requires: items must differ; those at 0 and 1 are equal",
		file("  - {id: a, prompt: p, output: {schema: {type: x}}}"):                                     "4:33: steps/0/output/schema: compiling schema:",
		file("  - {id: a, prompt: p, output: {schema: 3}}"):                                             "schema: must be an object, not a number",
		file("  - {id: a, prompt: p, askUser: {question: q}}"):                                          `askUser/key: is missing`,
		file("  - {id: a, prompt: p, loop: {times: 1, maxIterations: 1, steps: [{id: b, prompt: p}]}}"): "4:13: steps/0/prompt: nothing is allowed here | move it into a step of the loop",
		loop("until: {key: x, equals: 1}"):                                                              `5:5: steps/0/loop/maxIterations: is missing`,
		loop("maxIterations: 5"):                                                                        "5:5: steps/0/loop/while: is missing | a loop has one of while, until, times and each",
		loop("maxIterations: 0\ntimes: 1"):                                                              "7:7: steps/0/loop/maxIterations: must be at least 1",
		loop("maxIterations: 1001\ntimes: 1"):                                                           "maxIterations: must be at most 1000",
		loop("maxIterations: many\ntimes: 1"):                                                           "maxIterations: must be an integer, not a string",
		loop("maxIterations: 5\ntimes: 6"):                                                              "8:7: steps/0/loop/times: 6 times, but maxIterations is 5 | raise maxIterations",
		loop("maxIterations: 5\ntimes: 1\neach: x"):                                                     "5:5: steps/0/loop: fits more than one of the alternatives and must fit exactly one | a loop has one of",
		loop("maxIterations: 5\ntimes: 1\nas: x"):                                                       "9:7: steps/0/loop/as: nothing is allowed here | a loop has one of while, until, times and each; only a loop with each has as",
		loop("maxIterations: 5\nonLimit: stop\ntimes: 1"):                                               `onLimit: must be "fail" or "leave"`,
		loop("maxIterations: 5\nwhile: true"):                                                           "8:7: steps/0/loop/while: must be an object, not a boolean",
		when("{key: x}"):                                                                                "4:24: steps/0/when: must have at least 2 keys | a condition has a key and one comparison such as equals",
		when("{}"):                                                                                      "when: must have at least 1 key | a condition has",
		when("{key: x, equals: }"):                                                                      "when/equals: must be a boolean, a number, a string, an array or an object, not null",
		when("{equals: 1}"):                                                                             "when/equals: nothing is allowed here | a condition has a key and one comparison",
		when("{key: x, equals: 1, in: [1]}"):                                                            "when: must have at most 2 keys | a condition has a key and one comparison",
		when("{key: x, equal: 1}"):                                                                      `is not a known key | did you mean "equals"`,
		when("{key: x, all: [{key: x, equals: 1}]}"):                                                    "4:39: steps/0/when/all: nothing is allowed here | a condition has",
		when("{any: []}"):                                                                               "when/any: must have at least 1 item",
		when("{key: x, greaterThan: y}"):                                                                "greaterThan: must be a number, not a string",
		when("{key: x, exists: 1}"):                                                                     "exists: must be a boolean, not a number",
		when("{key: x, in: y}"):                                                                         "in: must be an array, not a string | put it in a list",
		when("{key: x, matches: '('}"):                                                                  "4:39: steps/0/when/matches: error parsing regexp",
		when("{key: x.1, equals: 1}"):                                                                   "when/key: must match the pattern",
		strings.Repeat("[", 65):                                                                         "more than 64 nested brackets",
		"id: w\x00":                                                                                     "the file is not text",
		"id: \xff":                                                                                      "file: not UTF-8 text | save it as UTF-8",
	} {
		_, err := workflow.Parse("w.yaml", []byte(text))
		list, ok := errors.AsType[*yamlfile.Error](err)
		if !ok || len(list.Problems) == 0 {
			t.Errorf("%q: %v", text, err)
			continue
		}
		found := make([]string, 0, len(list.Problems))
		for _, p := range list.Problems {
			found = append(found, fmt.Sprintf("%d:%d: %s | %s", p.Line, p.Column, p.Text, p.Hint))
			if p.File != "w.yaml" {
				t.Errorf("%q: file %q", text, p.File)
			}
		}
		if !strings.Contains(strings.Join(found, "\n"), want) {
			t.Errorf("%q:\n got %s\nwant %s", text, strings.Join(found, "\n     "), want)
		}
	}
}

func TestParseListsManyProblemsInOrder(t *testing.T) {
	t.Parallel()
	_, err := workflow.Parse("w.yaml", []byte(file(strings.Repeat("  - {id: a, prompt: p}\n", 300))))
	list, ok := errors.AsType[*yamlfile.Error](err)
	if !ok || len(list.Problems) != workflow.MaxProblems {
		t.Fatal(err)
	}
	for i := 1; i < workflow.MaxProblems; i++ {
		if list.Problems[i].Line < list.Problems[i-1].Line {
			t.Errorf("line %d after line %d", list.Problems[i].Line, list.Problems[i-1].Line)
		}
	}
	const want = "w.yaml:5:6: steps/1/id: step id \"a\" appears twice\n  5 |   - {id: a, prompt: p}\n    |      ^\n  hint: give every step its own id"
	if !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got\n%s\nwant prefix\n%s", err, want)
	}
	_, err = workflow.Parse("w.yaml", []byte(file(strings.Repeat("  - {id: a, promt: p}\n", 300))))
	if err == nil || !strings.HasPrefix(err.Error(), "w.yaml: file: there are more problems") {
		t.Error(err)
	}
}

// TestProblemsOfLargeFilesHavePositions has files that are too large for package schema to explain as a whole.
func TestProblemsOfLargeFilesHavePositions(t *testing.T) {
	t.Parallel()
	when := strings.Repeat("        - {key: a, equals: 1}\n", 20)
	var steps strings.Builder
	for i := range 400 {
		fmt.Fprintf(&steps, "  - id: s%d\n    prompt: p\n    when:\n      any:\n%s", i, when)
	}
	for text, want := range map[string]string{
		"":                                   "",
		"  - {id: a, promt: p}\n":            `w.yaml:9604:13: steps/400/promt: is not a known key`,
		"  - {id: s0, prompt: p}\n":          `w.yaml:9604:6: steps/400/id: step id "s0" appears twice`,
		strings.Repeat("  - {id: a}\n", 101): "w.yaml:3:1: steps: must have at most 500 items",
		"  - {id: a, prompt: p}\nx: 1":       `w.yaml:9605:1: x: is not a known key`,
	} {
		_, err := workflow.Parse("w.yaml", []byte(file(steps.String()+text)))
		if got := fmt.Sprint(err); (err != nil) != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%q: %.300s", text, got)
		}
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
	looped := func(n int) string {
		_, list, _ := strings.Cut(steps(n), "steps:\n")
		return file("  - id: l\n    loop:\n      times: 1\n      maxIterations: 1\n      steps:\n" + strings.ReplaceAll(list, "  - ", "      - "))
	}
	prompt := func(n int) string {
		return `{"id":"w","name":"W","steps":[{"id":"a","prompt":"` + strings.Repeat("x", n) + `"}]}`
	}
	umlauts := func(n int) string { return strings.ReplaceAll(prompt(n), "x", "ä") }
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
		{"steps", steps, workflow.MaxSteps, "must have at most 500 items"},
		{"depth", nested, workflow.MaxDepth, "more than 8 loops inside each other"},
		{"steps in loops", looped, workflow.MaxSteps - 1, "more than 500 steps, those in loops included"},
		{"prompt", prompt, workflow.MaxPromptBytes, "must have at most 16384 characters"},
		{"prompt in bytes", umlauts, workflow.MaxPromptBytes / 2, "16386 bytes, limit 16384"},
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

func TestJSONFilesHavePositionsToo(t *testing.T) {
	t.Parallel()
	const text = "\uFEFF{\n\t\"id\": \"w\", \"näme\": \"W\", \"name\": \"W\",\n\t\"steps\": [{\"id\": \"a\", \"id\": \"b\", \"prompt\": 3}]\n}\n"
	_, err := workflow.Parse("w.json", []byte(text))
	if err == nil || !strings.Contains(err.Error(), "w.json:3:24: not JSON that can be read safely: an object names a member twice") {
		t.Error(err)
	}
	_, err = workflow.Parse("w.json", []byte(strings.Replace(text, `"id": "b", `, "", 1)))
	for _, want := range []string{`w.json:2:21: näme: is not a known key`, `w.json:3:34: steps/0/prompt: must be a string, not a number`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
	for text, want := range map[string]string{
		"{\"id\": \"w\",\n}":     "w.json:2:1: not JSON that can be read safely: a byte is not valid JSON",
		"id: w":                  "w.json:1:1: not JSON that can be read safely: ",
		"{\"id\": \"w\"":         "w.json:1:11: not JSON that can be read safely: the bytes end inside a value",
		"{\"id\": 1e9999999999}": "its number is out of range",
		strings.Repeat("[", 70) + strings.Repeat("]", 70): "w.json:1:65: not JSON that can be read safely: the nesting is deeper than the limit",
	} {
		if _, err := workflow.Parse("w.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: got %v\nwant %s", text, err, want)
		}
	}
}

// examples returns the built-in workflows by file name.
func examples(t *testing.T) map[string][]byte {
	t.Helper()
	names, err := fs.Glob(workflow.Examples, "examples/*")
	if err != nil || len(names) != 3 {
		t.Fatal(names, err)
	}
	all := map[string][]byte{}
	for _, name := range names {
		if all[name], err = workflow.Examples.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestExamplesAreValid(t *testing.T) {
	t.Parallel()
	for name, data := range examples(t) {
		w, problems := workflow.Check(name, data)
		if w == nil || "examples/"+w.ID+".yaml" != name || w.Description == "" || len(w.Guidance) == 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// FuzzParse checks that no file makes Parse panic, that a file is either usable or has a problem, that canonical texts
// can be parsed again, and that the schema accepts every file that Parse accepts.
func FuzzParse(f *testing.F) {
	f.Add([]byte("id: w\nname: W\nguidance: [a]\ncontext:\n  - key: x\nsteps:\n  - id: a\n    prompt: |\n      Do {{x}}.\n    output: {schema: {type: object}}\n"))
	f.Add([]byte(`{"id":"w","name":"W","steps":[{"id":"a","prompt":"{{x}}","when":{"all":[{"key":"a","in":[1,2.50]}]}}]}`))
	f.Add([]byte(loop("each: x\nmaxIterations: 3\nas: y")))
	f.Add([]byte("a: &a [*a]\n"))
	s := fileSchema(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		w, problems := workflow.Check("w", data)
		if (w == nil) != (len(problems) > 0) || len(problems) > workflow.MaxProblems {
			t.Fatalf("workflow %v with problems %v", w != nil, problems)
		}
		if w == nil {
			return
		}
		checkRoundTrip(t, w)
		if text, err := w.JSON(); err != nil || !s.Explain(text).OK() && !s.Explain(text).Unchecked {
			t.Errorf("the schema refuses %s: %v", text, err)
		}
	})
}

// TestValuesAreCountedWhileReading has files below 1 MiB that would take hundreds of MiB as a tree.
func TestValuesAreCountedWhileReading(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"steps":   file(strings.Repeat("  - {id: a, prompt: b}\n", 40000)),
		"numbers": file(strings.Repeat("  - ["+strings.Repeat("1,", 4000)+"]\n", 125)),
		"json":    `{"steps":[` + strings.Repeat("1,", 500000) + `1]}`,
	} {
		_, problems := workflow.Check("w.yaml", []byte(text))
		if len(problems) != 1 || !strings.Contains(problems[0].Text, "file") || !strings.Contains(problems[0].Text, "more than 100000") {
			t.Errorf("%s: %.300v", name, problems)
		}
	}
}
