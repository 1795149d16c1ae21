package workflow_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
)

func mustParse(t testing.TB, text string) *workflow.Workflow {
	t.Helper()
	w, err := workflow.Parse("w", []byte(text))
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return w
}

func TestHashIsOfMeaningNotOfFormatting(t *testing.T) {
	t.Parallel()
	base := mustParse(t, "id: w\nname: W\nsteps:\n  - id: a\n    prompt: p\n    when: {key: x, equals: 1.50}\n    output: {schema: {type: object, maxProperties: 2}}\n")
	const fixed = "d224d2d11d11a1ff8d94e0c5a280283953c7a3acb319d58cafe683bde3600b8b" // stored runs depend on it
	if base.Hash() != fixed {
		t.Errorf("the hash of a known workflow changed: %s", base.Hash())
	}
	for _, same := range []string{
		`{"steps":[{"output":{"schema":{"maxProperties":2.0,"type":"object"}},"when":{"equals":15e-1,"key":"x"},"notes":"required","prompt":" p\n","id":"a"}],"name":"W","id":"w","$schema":"x"}`,
		"# comment\nname: 'W'\nid: \"w\"\nsteps: [{id: a, prompt: p, notes: required, when: {equals: 1.5, key: x}, output: {optional: false, schema: {maxProperties: 2, type: object}}}]\n",
	} {
		if got := mustParse(t, same).Hash(); got != base.Hash() {
			t.Errorf("%s: other hash", same)
		}
	}
	for _, other := range []string{
		"id: w\nname: W\nsteps:\n  - id: a\n    prompt: P\n    when: {key: x, equals: 1.5}\n    output: {schema: {type: object, maxProperties: 2}}\n",
		"id: w\nname: W\nsteps:\n  - id: a\n    prompt: p\n    when: {key: x, equals: \"1.5\"}\n    output: {schema: {type: object, maxProperties: 2}}\n",
		"id: w\nname: W\nsteps:\n  - id: a\n    prompt: p\n    when: {key: x, notEquals: 1.5}\n    output: {schema: {type: object, maxProperties: 2}}\n",
		"id: w\nname: W\nsteps:\n  - id: a\n    prompt: p\n    when: {key: x, equals: 1.5}\n    output: {schema: {type: object}}\n",
	} {
		if got := mustParse(t, other).Hash(); got == base.Hash() {
			t.Errorf("%s: same hash", other)
		}
	}
}

func TestCanonicalTextParsesToTheSameWorkflow(t *testing.T) {
	t.Parallel()
	texts := []string{
		loop("while: {any: [{key: x, matches: '^<a&b>$'}, {not: {key: y, exists: false}}]}\nmaxIterations: 2\nindex: i"),
		loop("times: 2\nmaxIterations: 2"),
		loop("times: x.y\nmaxIterations: 2\nonLimit: leave"),
	}
	for _, data := range examples(t) {
		texts = append(texts, string(data))
	}
	for _, text := range texts {
		checkRoundTrip(t, mustParse(t, text))
	}
}

func checkRoundTrip(t *testing.T, w *workflow.Workflow) {
	t.Helper()
	text, err := w.JSON()
	if err != nil {
		t.Fatal(err)
	}
	again, err := workflow.Parse("w.json", text)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	if again.Hash() != w.Hash() {
		t.Errorf("%s: hash changed", text)
	}
	ignore := cmpopts.IgnoreUnexported(workflow.Condition{})
	number := cmpopts.IgnoreFields(workflow.Condition{}, "Value") // 1.50 becomes 1.5
	if diff := cmp.Diff(w, again, ignore, number); diff != "" {
		t.Error(diff)
	}
}
