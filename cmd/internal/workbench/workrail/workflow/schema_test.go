package workflow_test

import (
	"slices"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
	"github.com/candor-mcp/candor/internal/schema"
)

func fileSchema(t testing.TB) *schema.Schema {
	t.Helper()
	s, err := schema.Compile(workflow.Schema)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// valid reports whether the schema accepts a file.
func valid(t testing.TB, s *schema.Schema, text string) bool {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s.Explain(data).OK()
}

// TestSchemaAgreesWithParse has files that the schema and Parse must both accept or both refuse. Rules that a schema
// cannot express, such as unique step IDs, are tested in TestParseReportsEveryProblemWithItsPosition.
func TestSchemaAgreesWithParse(t *testing.T) {
	t.Parallel()
	s := fileSchema(t)
	step := func(keys string) string { return file("  - {id: a, prompt: p, " + keys + "}\n") }
	good := []string{
		file("  - {id: a, prompt: p}"),
		"$schema: x\nversion: '1'\ndescription: d\n" + file("  - {id: A-1_b, prompt: p}"),
		"guidance: [a]\ncontext: [{key: _a-1, required: false}]\ncapabilities: [{name: b, required: true}]\n" + file("  - {id: a, prompt: p, capabilities: [b]}"),
		step("notes: optional"), step("notes: none"), step("notes: required"), step("requires: [a, b.c]"), step("title: t, guidance: [a, b]"),
		step("output: {}"), step("output: {optional: true, schema: {}}"), step("output: {description: d, schema: {type: [object, 'null']}}"),
		step("askUser: {question: q, key: k}"),
		loop("maxIterations: 1\ntimes: 1"), loop("maxIterations: 1000\ntimes: 1000"), loop("maxIterations: 3.0\ntimes: a.b"),
		loop("maxIterations: 1\neach: x\nas: y\nindex: z\nonLimit: leave"), loop("maxIterations: 1\nwhile: {key: a, exists: true}\nindex: i\nonLimit: fail"),
		loop("maxIterations: 1\nuntil: {not: {key: a, equals: false}}"),
		when("{key: a, equals: ''}"), when("{key: a, notEquals: {b: null}}"), when("{key: a, in: [1, b, true]}"), when("{key: a, greaterThan: -1.5}"),
		when("{key: a, atLeast: 0}"), when("{key: a, lessThan: 1000}"), when("{key: a, atMost: 1}"), when("{key: a, contains: []}"),
		when("{key: a, matches: '^a+$'}"), when("{key: a.b, exists: false}"), when("{all: [{key: a, equals: 1}, {any: [{not: {key: a, equals: 1}}]}]}"),
	}
	bad := []string{
		"[]", "{}", "id: w", "name: W\nsteps: [{id: a, prompt: p}]", "id: w\nsteps: [{id: a, prompt: p}]", "id: w\nname: W\nsteps: []",
		"id: w\nname: W\nsteps: {}", "extra: 1\n" + file("  - {id: a, prompt: p}"), "version: 1\n" + file("  - {id: a, prompt: p}"),
		"id: '-a'\nname: W\nsteps: [{id: a, prompt: p}]", "guidance: []\n" + file("  - {id: a, prompt: p}"), "guidance: a\n" + file("  - {id: a, prompt: p}"),
		"context: [{key: a.b}]\n" + file("  - {id: a, prompt: p}"), "context: [{}]\n" + file("  - {id: a, prompt: p}"), "context: [a]\n" + file("  - {id: a, prompt: p}"),
		"capabilities: [{name: a, required: 1}]\n" + file("  - {id: a, prompt: p}"), "description: null\n" + file("  - {id: a, prompt: p}"),
		file("  - {id: a}"), file("  - {prompt: p}"), file("  - a"), file("  - {id: a, prompt: ' '}"), file("  - {id: a.b, prompt: p}"), file("  - {id: 3, prompt: p}"),
		step("notes: yes"), step("notes: true"), step("requires: []"), step("requires: [a, a]"), step("requires: [1a]"), step("when: true"), step("title: ''"),
		step("output: true"), step("output: {schema: true}"), step("output: {schema: a}"), step("output: {optional: 'true'}"), step("output: {sch: {}}"),
		step("askUser: q"), step("askUser: {key: k}"), step("askUser: {question: q, key: a.b}"), step("unknown: 1"), step("capabilities: []"),
		step("loop: {times: 1, maxIterations: 1, steps: [{id: b, prompt: p}]}"),
		file("  - {id: a, notes: none, loop: {times: 1, maxIterations: 1, steps: [{id: b, prompt: p}]}}"), file("  - {id: a, loop: {}}"), file("  - {id: a, loop: []}"),
		loop("times: 1"), loop("maxIterations: 1"), loop("maxIterations: 0\ntimes: 1"), loop("maxIterations: 1001\ntimes: 1"), loop("maxIterations: 1.5\ntimes: 1"),
		loop("maxIterations: '1'\ntimes: 1"), loop("maxIterations: 1\ntimes: 0"), loop("maxIterations: 1\ntimes: 1\neach: a"), loop("maxIterations: 1\ntimes: 1\nas: a"),
		loop("maxIterations: 1\neach: [a]"), loop("maxIterations: 1\neach: a\nas: a.b"), loop("maxIterations: 1\neach: a\nonLimit: stop"), loop("maxIterations: 1\nwhile: a"),
		loop("maxIterations: 1\nfor: a"),
		when("{}"), when("{key: a}"), when("{equals: 1}"), when("{key: a, equals: null}"), when("{key: a, equals: 1, notEquals: 2}"), when("{key: a, in: []}"),
		when("{key: a, in: 1}"), when("{key: a, in: [null]}"), when("{key: a, lessThan: '1'}"), when("{key: a, exists: 'true'}"), when("{key: a, matches: 1}"),
		when("{key: a, all: [{key: a, equals: 1}]}"), when("{all: []}"), when("{any: {key: a, equals: 1}}"), when("{not: []}"), when("{not: {}}"), when("{key: a b, equals: 1}"),
		when("{key: a, Equals: 1}"),
	}
	for i, text := range append(slices.Clone(good), bad...) {
		_, err := workflow.Parse("w.yaml", []byte(text))
		if want := i < len(good); (err == nil) != want || valid(t, s, text) != want {
			t.Errorf("%s\nParse: %v, schema: %v; want %v", text, err, valid(t, s, text), want)
		}
	}
	for name, data := range examples(t) {
		if !valid(t, s, string(data)) {
			t.Errorf("%s: the schema refuses it", name)
		}
	}
}
