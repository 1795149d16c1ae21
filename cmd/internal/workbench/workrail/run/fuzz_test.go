package run_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/run"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
)

// FuzzAdvance checks that no workflow, position or context makes Advance panic or run without end, that errors are of
// the closed set, and that the result is a position that the workflow accepts and depends only on the arguments.
func FuzzAdvance(f *testing.F) {
	for _, steps := range []string{
		"[{id: a, prompt: '{{x}}', when: {key: x, equals: 1}}, {id: b, prompt: p}]",
		"[{id: l, loop: {each: x, as: u, maxIterations: 9, steps: [{id: m, loop: {times: u.n, maxIterations: 9, steps: [{id: a, prompt: '{{u.n}}', when: {key: u.n, atLeast: 1}}]}}]}}]",
		"[{id: l, loop: {until: {key: x, matches: '^a*$'}, maxIterations: 9, steps: [{id: a, prompt: p}]}}, {id: k, loop: {while: {key: x, contains: 1}, maxIterations: 1000, steps: [{id: b, prompt: p}]}}]",
	} {
		f.Add("id: w\nname: W\nsteps: "+steps, `{"step":"a"}`, `{"x":1}`)
		f.Add("id: w\nname: W\nsteps: "+steps, `{"loops":[{"step":"l","iteration":1}],"step":"a"}`, `{"x":[{"n":3},{"n":0}]}`)
	}
	f.Fuzz(func(t *testing.T, file, position, context string) {
		w, err := workflow.Parse("w", []byte(file))
		if err != nil {
			return
		}
		d := json.NewDecoder(strings.NewReader(context))
		d.UseNumber()
		var values map[string]any
		var p run.Position
		if d.Decode(&values) != nil || json.Unmarshal([]byte(position), &p) != nil {
			return
		}
		if first, err := run.Start(w, values); check(t, err) {
			follow(t, w, first, values)
		}
		if next, err := run.Advance(w, p, values); check(t, err) {
			follow(t, w, next, values)
		}
	})
}

// check reports whether err is nil; an error outside of the closed set fails the test.
func check(t *testing.T, err error) bool {
	t.Helper()
	if _, ok := errors.AsType[*run.Error](err); err != nil && !ok {
		t.Fatalf("%T: %v", err, err)
	}
	return err == nil
}

// follow takes a few steps from a position that this package returned.
func follow(t *testing.T, w *workflow.Workflow, p run.Position, context map[string]any) {
	t.Helper()
	for range 5 {
		pending, ok, err := p.Pending(w, context)
		if err != nil || ok == p.Completed() || ok && pending.Path == "" {
			t.Fatalf("%+v: pending %v, %v", p, ok, err)
		}
		if !ok {
			return
		}
		next, err := run.Advance(w, p, context)
		again, err2 := run.Advance(w, reload(t, p), context)
		if !reflect.DeepEqual(next, again) || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Fatalf("%+v: %+v, %v and then %+v, %v", p, next, err, again, err2)
		}
		if !check(t, err) {
			return
		}
		p = next
	}
}
