package run_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/run"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
)

// flow returns a workflow with these steps, written in YAML.
func flow(t testing.TB, steps string) *workflow.Workflow {
	t.Helper()
	w, err := workflow.Parse("w.yaml", []byte("id: w\nname: W\nsteps: "+steps+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// object decodes a JSON object with exact numbers.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	out := map[string]any{}
	if err := d.Decode(&out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// walk runs a workflow to its end and returns the visited paths, and the error that stopped it. done is called for each
// step before the run advances, and may change the context. Positions are encoded as JSON, as if the process was
// restarted at each step.
func walk(t testing.TB, w *workflow.Workflow, context map[string]any, done func(path string)) (paths []string, err error) {
	t.Helper()
	p, err := run.Start(w, context)
	for err == nil {
		pending, ok, err := p.Pending(w, context)
		if err != nil {
			return paths, err
		}
		if !ok {
			return paths, nil
		}
		if pending.Path != p.Path() || len(paths) > 5000 {
			t.Fatalf("%d steps, path %s and %s", len(paths), pending.Path, p.Path())
		}
		paths = append(paths, pending.Path)
		if done != nil {
			done(pending.Path)
		}
		if p, err = run.Advance(w, reload(t, p), context); err != nil {
			return paths, err
		}
	}
	return paths, err
}

func reload(t testing.TB, p run.Position) run.Position {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var again run.Position
	if err := json.Unmarshal(data, &again); err != nil || !reflect.DeepEqual(p, again) {
		t.Fatalf("%s: %v", data, err)
	}
	return again
}

func TestWalk(t *testing.T) {
	t.Parallel()
	const body = "steps: [{id: a, prompt: p}]"
	for name, c := range map[string]struct {
		steps, context string
		want           string // paths, then the error
	}{
		"sequence":               {"[{id: a, prompt: p}, {id: b, prompt: p}]", "{}", "a b"},
		"condition holds":        {"[{id: a, prompt: p, when: {key: x, equals: 1}}, {id: b, prompt: p}]", `{"x": 1}`, "a b"},
		"condition skips":        {"[{id: a, prompt: p, when: {key: x, equals: 1}}, {id: b, prompt: p}]", `{"x": 2}`, "b"},
		"all skipped":            {"[{id: a, prompt: p, when: {key: x, equals: 1}}]", `{}`, ""},
		"condition fails":        {"[{id: a, prompt: p}, {id: b, prompt: p, when: {key: x, atLeast: 1}}]", `{"x": "y"}`, `a condition_eval_failed b: context key "x": atLeast needs a number, got a string`},
		"times":                  {"[{id: l, loop: {times: 3, maxIterations: 3, " + body + "}}]", "{}", "l[1].a l[2].a l[3].a"},
		"times from context":     {"[{id: l, loop: {times: n.m, maxIterations: 3, " + body + "}}]", `{"n": {"m": 2.0}}`, "l[1].a l[2].a"},
		"times zero":             {"[{id: l, loop: {times: n, maxIterations: 3, " + body + "}}]", `{"n": 0}`, ""},
		"times missing":          {"[{id: l, loop: {times: n, maxIterations: 3, " + body + "}}]", `{}`, "missing_context l n"},
		"times negative":         {"[{id: l, loop: {times: n, maxIterations: 3, " + body + "}}]", `{"n": -1}`, `invalid_loop l n want a whole number, 0 or more`},
		"times fraction":         {"[{id: l, loop: {times: n, maxIterations: 3, " + body + "}}]", `{"n": 1.5}`, `invalid_loop l n want a whole number, 0 or more`},
		"times text":             {"[{id: l, loop: {times: n, maxIterations: 3, " + body + "}}]", `{"n": "2"}`, `invalid_loop l n want a whole number, 0 or more`},
		"times beyond limit":     {"[{id: l, loop: {times: n, maxIterations: 3, " + body + "}}]", `{"n": 4}`, "max_iterations_exceeded l"},
		"times leaves at limit":  {"[{id: l, loop: {times: n, maxIterations: 2, onLimit: leave, " + body + "}}]", `{"n": 4}`, "l[1].a l[2].a"},
		"each":                   {"[{id: l, loop: {each: x, maxIterations: 3, " + body + "}}, {id: b, prompt: p}]", `{"x": ["u", "v"]}`, "l[1].a l[2].a b"},
		"each empty":             {"[{id: l, loop: {each: x, maxIterations: 3, " + body + "}}, {id: b, prompt: p}]", `{"x": []}`, "b"},
		"each missing":           {"[{id: l, loop: {each: x, maxIterations: 3, " + body + "}}]", `{"x": null}`, "missing_context l x"},
		"each of text":           {"[{id: l, loop: {each: x, maxIterations: 3, " + body + "}}]", `{"x": "u"}`, `invalid_loop l x want a list, got a value of type string`},
		"each beyond limit":      {"[{id: l, loop: {each: x, maxIterations: 1, " + body + "}}]", `{"x": [1, 2]}`, "max_iterations_exceeded l"},
		"each leaves at limit":   {"[{id: l, loop: {each: x, maxIterations: 1, onLimit: leave, " + body + "}}]", `{"x": [1, 2]}`, "l[1].a"},
		"while never":            {"[{id: l, loop: {while: {key: x, exists: true}, maxIterations: 3, " + body + "}}]", `{}`, ""},
		"while too often":        {"[{id: l, loop: {while: {key: x, exists: true}, maxIterations: 2, " + body + "}}]", `{"x": 1}`, "l[1].a l[2].a max_iterations_exceeded l"},
		"while leaves at limit":  {"[{id: l, loop: {while: {key: x, exists: true}, maxIterations: 2, onLimit: leave, " + body + "}}, {id: b, prompt: p}]", `{"x": 1}`, "l[1].a l[2].a b"},
		"while fails":            {"[{id: l, loop: {while: {key: x, matches: y}, maxIterations: 2, " + body + "}}]", `{"x": 1}`, `condition_eval_failed l: context key "x": matches needs a string, got a number`},
		"until at once":          {"[{id: l, loop: {until: {key: x, exists: true}, maxIterations: 3, " + body + "}}]", `{"x": 1}`, "l[1].a"},
		"until too often":        {"[{id: l, loop: {until: {key: x, exists: true}, maxIterations: 2, " + body + "}}]", `{}`, "l[1].a l[2].a max_iterations_exceeded l"},
		"loop skipped":           {"[{id: l, when: {key: x, exists: true}, loop: {each: y, maxIterations: 2, " + body + "}}]", `{}`, ""},
		"loop requires":          {"[{id: l, requires: [x, y], loop: {times: 2, maxIterations: 2, " + body + "}}]", `{}`, "missing_context l x, y"},
		"nested":                 {"[{id: l, loop: {times: 2, maxIterations: 2, steps: [{id: m, loop: {times: 2, maxIterations: 2, " + body + "}}, {id: b, prompt: p}]}}]", `{}`, "l[1].m[1].a l[1].m[2].a l[1].b l[2].m[1].a l[2].m[2].a l[2].b"},
		"item and index":         {"[{id: l, loop: {each: x, as: u, index: i, maxIterations: 9, steps: [{id: a, prompt: p, when: {key: u.r, equals: 1}}, {id: b, prompt: p, when: {key: i, atLeast: 2}}]}}]", `{"x": [{"r": 1}, {"r": 2}, {"r": 1}]}`, "l[1].a l[2].b l[3].a l[3].b"},
		"list of an item":        {"[{id: l, loop: {each: x, as: u, maxIterations: 9, steps: [{id: m, loop: {each: u.f, as: v, maxIterations: 9, " + body + "}}]}}]", `{"x": [{"f": [1]}, {"f": []}, {"f": [1, 2]}]}`, "l[1].m[1].a l[3].m[1].a l[3].m[2].a"},
		"error path in a loop":   {"[{id: l, loop: {each: x, as: u, maxIterations: 9, steps: [{id: m, loop: {each: u.f, as: v, maxIterations: 9, " + body + "}}]}}]", `{"x": [{"f": [1]}, {}]}`, "l[1].m[1].a missing_context l[2].m u.f"},
		"own names not visible":  {"[{id: l, loop: {until: {key: i, exists: true}, index: i, maxIterations: 2, onLimit: leave, " + body + "}}]", `{}`, "l[1].a l[2].a"},
		"item hides the context": {"[{id: l, loop: {each: x, as: u, maxIterations: 9, steps: [{id: a, prompt: p, when: {key: u, equals: 1}}]}}, {id: b, prompt: p, when: {key: u, equals: 7}}]", `{"x": [1, 7], "u": 7}`, "l[1].a b"},
	} {
		paths, err := walk(t, flow(t, c.steps), object(t, c.context), nil)
		if err != nil {
			paths = append(paths, err.Error())
			if _, ok := errors.AsType[*run.Error](err); !ok {
				t.Errorf("%s: %T is not an Error", name, err)
			}
		}
		if got := strings.Join(paths, " "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestConditionsSeeTheContextOfEachMoment(t *testing.T) {
	t.Parallel()
	w := flow(t, "[{id: l, loop: {while: {key: go, equals: true}, maxIterations: 9, steps: [{id: a, prompt: p}]}}, "+
		"{id: m, loop: {until: {key: found, exists: true}, maxIterations: 9, steps: [{id: b, prompt: p}, {id: c, prompt: p, when: {key: found, exists: false}}]}}]")
	context := map[string]any{"go": true}
	paths, err := walk(t, w, context, func(path string) {
		switch path {
		case "l[2].a":
			context["go"] = false
		case "m[2].b":
			context["found"] = "yes"
		}
	})
	if got := strings.Join(paths, " "); err != nil || got != "l[1].a l[2].a m[1].b m[1].c m[2].b" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestLimitCanBeResolvedByTheContext(t *testing.T) {
	t.Parallel()
	w := flow(t, "[{id: l, loop: {until: {key: found, exists: true}, maxIterations: 1, steps: [{id: a, prompt: p}]}}, {id: b, prompt: p}]")
	p, err := run.Start(w, nil)
	if err != nil {
		t.Fatal(err)
	}
	same, err := run.Advance(w, p, nil)
	e, ok := errors.AsType[*run.Error](err)
	if !ok || e.Kind != run.KindMaxIterationsExceeded || e.Step != "l" || e.Path != "l" || e.Limit != 1 || !reflect.DeepEqual(same, p) {
		t.Fatalf("%v, %v", same, err)
	}
	if p, err = run.Advance(w, same, map[string]any{"found": true}); err != nil || p.Path() != "b" {
		t.Errorf("%v, %v", p, err)
	}
}

func TestListMayOnlyGrowAtItsEndDuringALoop(t *testing.T) {
	t.Parallel()
	w := flow(t, "[{id: l, loop: {each: x, maxIterations: 4, steps: [{id: a, prompt: '{{item}}'}]}}]")
	p, err := run.Start(w, object(t, `{"x": [1, 2]}`))
	if err != nil {
		t.Fatal(err)
	}
	if p, err = run.Advance(w, p, object(t, `{"x": [1, 2]}`)); err != nil || p.Path() != "l[2].a" {
		t.Fatalf("%v, %v", p, err)
	}
	for _, context := range []string{`{"x": [2]}`, `{"x": [2, 1]}`, `{"x": [1, 3, 4]}`, `{"x": []}`} {
		if _, err := run.Advance(w, p, object(t, context)); !isKind(err, run.KindInvalidLoop) {
			t.Errorf("%s: Advance: %v", context, err)
		}
		if _, _, err := p.Pending(w, object(t, context)); !isKind(err, run.KindInvalidLoop) {
			t.Errorf("%s: Pending: %v", context, err)
		}
	}
	next, err := run.Advance(w, p, object(t, `{"x": [1.0, 2, 3]}`))
	if err != nil || next.Path() != "l[3].a" || next.Loops[0].Total != 3 {
		t.Fatalf("%v, %v", next, err)
	}
	pending, _, err := next.Pending(w, object(t, `{"x": [1, 2, 3, 4]}`))
	if err != nil || pending.Prompt != "3" || pending.Iteration != 3 || pending.Total != 3 {
		t.Errorf("%+v, %v", pending, err)
	}
	if _, err := run.Advance(w, p, object(t, `{"x": [1, 2, 3, 4, 5]}`)); !isKind(err, run.KindMaxIterationsExceeded) {
		t.Errorf("5 items: %v", err)
	}
}

// TestPositionHasAStableForm has a position in the form stored in sessions.
func TestPositionHasAStableForm(t *testing.T) {
	t.Parallel()
	w := flow(t, "[{id: l, loop: {each: x, maxIterations: 4, steps: [{id: m, loop: {until: {key: y, exists: true}, maxIterations: 4, steps: [{id: a, prompt: p}]}}]}}]")
	p, err := run.Start(w, object(t, `{"x": [1, "b", {"c": null}]}`))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(p)
	const want = `{"loops":[{"step":"l","iteration":1,"total":3,"items":"9a12b98fb078888fb44fd81cedecb434"},{"step":"m","iteration":1}],"step":"a"}`
	if err != nil || string(data) != want {
		t.Errorf("got  %s, %v\nwant %s", data, err, want)
	}
}

func isKind(err error, kind run.Kind) bool {
	e, ok := errors.AsType[*run.Error](err)
	return ok && e.Kind == kind
}

func TestStartNamesMissingContext(t *testing.T) {
	t.Parallel()
	w := flow(t, "[{id: a, prompt: p}]\ncontext: [{key: z, required: true}, {key: b}, {key: a, required: true}, {key: c, required: true}]")
	_, err := run.Start(w, object(t, `{"c": 1, "a": null}`))
	e, ok := errors.AsType[*run.Error](err)
	if !ok || e.Kind != run.KindMissingContext || !reflect.DeepEqual(e.Keys, []string{"z", "a"}) {
		t.Errorf("%v", err)
	}
}

func TestAdvanceOfACompletedRun(t *testing.T) {
	t.Parallel()
	w := flow(t, "[{id: a, prompt: p}]")
	p, _ := run.Start(w, nil)
	p, err := run.Advance(w, p, nil)
	if err != nil || !p.Completed() || p.Path() != "" {
		t.Fatalf("%v, %v", p, err)
	}
	if _, err := run.Advance(w, p, nil); !isKind(err, run.KindNoPendingStep) {
		t.Errorf("Advance: %v", err)
	}
	if _, ok, err := p.Pending(w, nil); ok || err != nil {
		t.Errorf("Pending: %v, %v", ok, err)
	}
}

func TestPositionThatDoesNotFitIsAnError(t *testing.T) {
	t.Parallel()
	w := flow(t, "[{id: a, prompt: p}, {id: l, loop: {times: 2, maxIterations: 3, steps: [{id: b, prompt: p}, {id: m, loop: {each: x, maxIterations: 3, steps: [{id: c, prompt: p}]}}]}}, "+
		"{id: u, loop: {until: {key: x, exists: true}, maxIterations: 3, steps: [{id: d, prompt: p}]}}]")
	context := object(t, `{"x": [1]}`)
	for _, text := range []string{
		`{"step": "x"}`, `{"step": "l"}`, `{"step": "b"}`,
		`{"loops": [{"step": "l", "iteration": 1, "total": 2}]}`,
		`{"loops": [{"step": "l", "iteration": 1, "total": 2}], "step": "a"}`,
		`{"loops": [{"step": "l", "iteration": 0, "total": 2}], "step": "b"}`,
		`{"loops": [{"step": "l", "iteration": -1, "total": 2}], "step": "b"}`,
		`{"loops": [{"step": "l", "iteration": 3, "total": 2}], "step": "b"}`,
		`{"loops": [{"step": "l", "iteration": 4, "total": 4}], "step": "b"}`,
		`{"loops": [{"step": "l", "iteration": 1, "total": 4}], "step": "b"}`,
		`{"loops": [{"step": "l", "iteration": 1}], "step": "b"}`,
		`{"loops": [{"step": "a", "iteration": 1, "total": 2}], "step": "b"}`,
		`{"loops": [{"step": "m", "iteration": 1, "total": 1}], "step": "c"}`,
		`{"loops": [{"step": "u", "iteration": 1, "total": 2}], "step": "d"}`,
		`{"loops": [{"step": "u", "iteration": 4}], "step": "d"}`,
	} {
		var p run.Position
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		same, err := run.Advance(w, p, context)
		if !isKind(err, run.KindInvalidPosition) || !reflect.DeepEqual(same, p) {
			t.Errorf("%s: Advance: %v, %v", text, same, err)
		}
		if _, ok, err := p.Pending(w, context); ok || !isKind(err, run.KindInvalidPosition) {
			t.Errorf("%s: Pending: %v", text, err)
		}
	}
	bad := run.Position{Step: "c", Loops: []run.Loop{{Step: "l", Iteration: 1, Total: 2}, {Step: "m", Iteration: 1, Total: 1, Items: "x"}}}
	if _, err := run.Advance(w, bad, context); !isKind(err, run.KindInvalidLoop) {
		t.Errorf("wrong digest: %v", err)
	}
}

// TestSkippingIsBounded has nested loops with 1000^8 iterations, in which every step is skipped.
func TestSkippingIsBounded(t *testing.T) {
	t.Parallel()
	inner := "{id: a, prompt: p, when: {key: x, exists: true}}"
	for i := range workflow.MaxDepth {
		inner = fmt.Sprintf("{id: l%d, loop: {times: 1000, maxIterations: 1000, steps: [%s]}}", i, inner)
	}
	_, err := run.Start(flow(t, "["+inner+"]"), nil)
	e, ok := errors.AsType[*run.Error](err)
	if !ok || e.Kind != run.KindInvalidLoop || !strings.Contains(e.Reason, "too much work") || e.Step != "l0" || !strings.HasPrefix(e.Path, "l7[1].l6[1].") {
		t.Errorf("%v", err)
	}
	// 1000 items with a few steps each are within the limit.
	long := strings.TrimSuffix(strings.Repeat(`{"skip":true},`, 999), ",")
	w := flow(t, "[{id: l, loop: {each: x, as: u, maxIterations: 1000, steps: [{id: a, prompt: p, when: {key: u.skip, equals: false}}, {id: b, prompt: p, when: {key: u.skip, equals: false}}]}}]")
	p, err := run.Start(w, object(t, `{"x": [`+long+`,{"skip":false}]}`))
	if err != nil || p.Path() != "l[1000].a" {
		t.Errorf("%s, %v", p.Path(), err)
	}
}

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
		Question: "a/b?", Loop: w.Steps[0].Loop, MissingKeys: []string{"y.z", "unit.q"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
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
