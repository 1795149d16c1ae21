package workrail_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// content returns the structured content as a value, without the replay note.
func (a answer) content() map[string]any {
	a.T.Helper()
	var v map[string]any
	if err := json.Unmarshal(a.M.Result().Path("structuredContent").Raw(), &v); err != nil {
		a.T.Fatal(err)
	}
	delete(v, "replay")
	return v
}

// replayed requires that an answer is a replay of the first one.
func (a answer) replayed(first answer, differs bool) {
	a.T.Helper()
	a.fine()
	replay := a.M.Result().Path("structuredContent", "replay")
	recorded, _ := replay.Path("recorded").Bool()
	if got, _ := replay.Path("differs").Bool(); !recorded || got != differs {
		a.T.Errorf("replay is %s, want differs %t", replay.Raw(), differs)
	}
	if !reflect.DeepEqual(a.content(), first.content()) {
		a.T.Errorf("replayed\n%s\nfirst\n%s", a.M.Result().Path("structuredContent").Raw(), first.M.Result().Path("structuredContent").Raw())
	}
}

// TestW13ATokenUsedTwiceReturnsTheRecord reuses tokens at once, after more steps and after a restart, for steps,
// blocked attempts and the end.
func TestW13ATokenUsedTwiceReturnsTheRecord(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	type use struct {
		in    args
		first answer
	}
	var uses []use
	a := s.begin("demanding", nil)
	do := func(in args) answer {
		t.Helper()
		in = with(in, "continueToken", a.token())
		a = s.call("continue_workflow", in).fine()
		uses = append(uses, use{in, a})
		s.call("continue_workflow", in).replayed(a, false)
		return a
	}
	for _, d := range demands {
		if d.path == "producing" || d.path == "able" {
			do(args{"notes": "too little"}).kind("blocked")
			do(args{}).kind("blocked")
		}
		if d.give == nil {
			s.answers(a.data("sessionId"), "c")
		}
		do(d.give)
	}
	a.kind("completed")
	id := a.data("sessionId")
	for range 2 {
		before := len(s.steps(id))
		for i, u := range uses {
			s.call("continue_workflow", u.in).replayed(u.first, false)
			b := s.call("continue_workflow", with(args{"notes": "other"}, "continueToken", u.in["continueToken"]))
			b.replayed(u.first, true)
			if stale, _ := b.M.Result().Path("structuredContent", "replay", "stale").Bool(); stale != (i < len(uses)-1) {
				t.Errorf("call %d: stale is %t", i, stale)
			}
		}
		if after := len(s.steps(id)); after != before || after != len(demands) {
			t.Errorf("%d steps became %d", before, after)
		}
		s.Kill()
		s = p.start()
	}
}

// TestASessionKeepsItsWorkflow checks that changing or removing a workflow file does not affect a session that has
// begun.
func TestASessionKeepsItsWorkflow(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start()
	a := s.begin("plain", nil)
	p.write(filepath.Join(p.workflows, "plain.yaml"), "id: plain\nname: Plain\nsteps:\n  - {id: other, prompt: Other., notes: optional}\n")
	if got := s.begin("plain", nil).data("step", "path"); got != "other" {
		t.Errorf("a new session begins with %s", got)
	}
	a = s.walk(a, 5)
	if err := os.Remove(filepath.Join(p.workflows, "plain.yaml")); err != nil {
		t.Fatal(err)
	}
	s.Kill()
	s = p.start()
	s.walk(a, 5).kind("completed")
}

// TestW13TheSameContentInAnotherOrderIsTheSame checks that values are compared, not bytes.
func TestW13TheSameContentInAnotherOrderIsTheSame(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	a := s.begin("plain", nil)
	in := func(context string) args {
		return args{"continueToken": a.token(), "notes": "n", "context": json.RawMessage(context)}
	}
	first := s.call("continue_workflow", in(`{"a":1.0,"b":[1,2]}`)).kind("step")
	s.call("continue_workflow", in(`{"b": [1, 2], "a": 1}`)).replayed(first, false)
	s.call("continue_workflow", in(`{"b":[2,1],"a":1}`)).replayed(first, true)
}
