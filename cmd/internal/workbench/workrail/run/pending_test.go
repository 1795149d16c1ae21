package run_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/run"
)

func TestPendingFillsThePrompt(t *testing.T) {
	t.Parallel()
	w := flow(t, `[{id: l, loop: {each: units, as: unit, index: n, maxIterations: 9, steps: [{id: a, requires: [x, unit.path, y.z, unit.q], prompt: "{{n}}: {{unit.path}} {{ unit }} {{x}} {{list}} {{nope}} {{y.z}}", askUser: {question: "{{unit.path}}?", key: answer}}]}}]`)
	context := object(t, `{"units": [{"path": "a/b"}], "x": "{{n}} \u001b[31m", "list": [1.0, true], "y": {"z": null}}`)
	p, err := run.Start(w, context)
	if err != nil {
		t.Fatal(err)
	}
	got, ok, err := p.Pending(w, context)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	want := run.Pending{
		Step: &w.Steps[0].Loop.Steps[0], Path: "l[1].a", Iteration: 1, Total: 1,
		Prompt:   "1: a/b {\"path\":\"a/b\"} {{n}}  [1,true] {{nope}} {{y.z}}",
		Question: "a/b?", AwaitingUser: true, MissingKeys: []string{"y.z", "unit.q"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	context["answer"] = "yes"
	if got, _, _ = p.Pending(w, context); got.AwaitingUser {
		t.Error("still awaiting the user")
	}
}

func TestFilledPromptsAreBounded(t *testing.T) {
	t.Parallel()
	w := flow(t, "[{id: a, prompt: '"+strings.Repeat("{{x}}", 1000)+"'}]")
	for _, value := range []string{strings.Repeat("x", 300_000), strings.Repeat("ä😀", 50_000), "short", "\xff\xfe" + strings.Repeat("y", 3000)} {
		context := map[string]any{"x": value}
		p, err := run.Start(w, context)
		if err != nil {
			t.Fatal(err)
		}
		pending, _, err := p.Pending(w, context)
		if err != nil || len(pending.Prompt) > run.MaxValuesBytes+len(w.Steps[0].Prompt) || !utf8.ValidString(pending.Prompt) {
			t.Errorf("%.10q: %d bytes, valid %v, %v", value, len(pending.Prompt), utf8.ValidString(pending.Prompt), err)
		}
		if len(value) > run.MaxValueBytes && !strings.Contains(pending.Prompt, " … (shortened)") {
			t.Errorf("%.10q: cut without a mark", value)
		}
	}
}
