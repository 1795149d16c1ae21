package dual_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestD6DoneNeedsAThought checks that a task without a thought record does not become DONE, and stays unchanged.
func TestD6DoneNeedsAThought(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	id := s.task(nil)
	s.advance(id, "VERIFY")
	before := string(s.call("task_get", args{"id": id}).fine().value().Raw())
	a := s.call("task_update", args{"id": id, "status": "DONE", "title": "other", "result": "it works"}).isB("ERR_WRITEBACK_REQUIRED")
	if message, _ := a.Canonical().Path("message").Str(); message != "Writeback required for task "+id+": missing thought_record" {
		t.Error(message)
	}
	if !a.detail("missing_fields", 0).Is("thought_record") {
		t.Errorf("%s", a.M.Bytes())
	}
	if after := string(s.call("task_get", args{"id": id}).fine().value().Raw()); after != before {
		t.Errorf("the task was changed:\n%s\n%s", before, after)
	}
	other := s.task(nil)
	s.think(other, nil).fine() // a thought about another task does not count
	for _, blank := range []string{" \t\n", "\u200b", "\u2800", "\u3164", "\u00ad\u0301\ufe0f"} {
		s.think(id, args{"content": blank}).isA("INVALID_PARAMS")
	}
	s.call("task_update", args{"id": id, "status": "DONE"}).isB("ERR_WRITEBACK_REQUIRED")
	next := s.call("task_next_actions", args{"id": id}).fine()
	if got := texts(next, "allowed"); !slices.Equal(got, []string{"CANCELLED"}) || !strings.Contains(strings.Join(texts(next, "next"), " "), "thought_record") {
		t.Errorf("%s", next.M.Bytes())
	}
	s.think(id, nil).fine()
	s.call("task_update", args{"id": id, "status": "DONE", "result": "it works"}).fine()
	if got := s.call("task_get", args{"id": id}).fine(); got.data("status") != "DONE" || got.data("result") != "it works" {
		t.Errorf("%s", got.M.Bytes())
	}
}

// texts returns a list of strings of a success.
func texts(a answer, path ...any) (all []string) {
	for v := range a.value(path...).Elements() {
		text, _ := v.Str()
		all = append(all, text)
	}
	return all
}

// legal is the state machine, written out.
var legal = map[string][]string{
	"INIT": {"GATHER", "CANCELLED"}, "GATHER": {"ANALYZE", "CANCELLED"}, "ANALYZE": {"PLAN", "CANCELLED"}, "PLAN": {"APPLY", "CANCELLED"},
	"APPLY": {"VERIFY", "CANCELLED"}, "VERIFY": {"DONE", "CANCELLED"}, "DONE": {}, "CANCELLED": {},
}

// TestD7All64Transitions tries every pair of statuses over the wire.
func TestD7All64Transitions(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	pairs, refused := 0, 0
	for _, from := range statuses {
		for _, to := range statuses {
			pairs++
			id := s.task(nil)
			s.think(id, nil).fine()
			switch from {
			case "INIT":
			case "CANCELLED":
				s.call("task_update", args{"id": id, "status": "CANCELLED"}).fine()
			default:
				s.advance(id, from)
			}
			a := s.call("task_update", args{"id": id, "status": to})
			want := to
			if slices.Contains(legal[from], to) {
				a.fine()
			} else {
				refused++
				want = from
				a.isB("ERR_INVALID_TRANSITION")
				var allowed []string
				for v := range a.detail("allowed").Elements() {
					text, _ := v.Str()
					allowed = append(allowed, text)
				}
				if !a.detail("from").Is(from) || !a.detail("to").Is(to) || !slices.Equal(allowed, legal[from]) && len(allowed)+len(legal[from]) > 0 {
					t.Errorf("%s to %s: %s", from, to, a.detail().Raw())
				}
			}
			if got := s.call("task_get", args{"id": id}).fine().data("status"); got != want {
				t.Errorf("%s to %s: the task is %s", from, to, got)
			}
		}
	}
	if pairs != 64 || refused != 52 {
		t.Errorf("%d pairs, %d refused", pairs, refused)
	}
}

func TestTasksAreListedInPages(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	want, got := make([]string, 7), []string{}
	for i := range want {
		want[i] = s.task(args{"agent_id": "pager"})
		s.task(args{"agent_id": "other"})
	}
	for after := ""; ; {
		in := args{"limit": 3, "agent_id": "pager"}
		if after != "" {
			in["after_id"] = after
		}
		a := s.call("task_list", in).fine()
		for v := range a.value("tasks").Elements() {
			id, _ := v.Path("id").Str()
			got = append(got, id)
		}
		if !a.truth("more") {
			break
		}
		after = got[len(got)-1]
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestValidationOfTasks(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	id := s.task(nil)
	for name, in := range map[string]args{
		"blank title":        {"title": " \t "},
		"unknown parent":     {"title": "x", "parent_id": missing},
		"unknown dependency": {"title": "x", "depends_on": []string{missing}},
		"doubled dependency": {"title": "x", "depends_on": []string{id, id}},
		"large context":      {"title": "x", "context": args{"a": strings.Repeat("x", 65<<10)}},
		"invisible title":    {"title": "\u200b"},
		"long number":        {"title": "x", "context": args{"a": []any{json.RawMessage("-1" + strings.Repeat("0", 5000))}}},
		"large exponent":     {"title": "x", "context": args{"a": args{"b": json.RawMessage("1e99999")}}},
	} {
		a := s.call("task_create", in).isB("ERR_VALIDATION")
		if !a.detail("issues", 0, "path").Present() || !a.detail("issues", 0, "message").Present() {
			t.Errorf("%s: %s", name, a.detail().Raw())
		}
	}
	if n := s.call("task_list", args{}).fine().number("count"); n != 1 {
		t.Errorf("%d tasks exist", n)
	}
}

// TestLargeAnswersAreCutIntoPages checks that no answer has much more than 1 MiB of text, and that nothing is lost.
func TestLargeAnswersAreCutIntoPages(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	large := strings.Repeat("x", 60<<10)
	id := ""
	for range 25 {
		id = s.task(args{"context": args{"a": large}})
	}
	for range 25 {
		s.think(id, args{"content": large}).fine()
	}
	seen, after := 0, int64(0)
	for more := true; more; {
		a := s.call("thought_record_list", args{"limit": 200, "after": after}).fine()
		if n := len(a.M.Bytes()); n > 4<<20 { // the text occurs twice
			t.Errorf("an answer of %d bytes", n)
		}
		seen, after, more = seen+int(a.number("count")), a.number("next_after"), a.truth("more")
	}
	if seen != 25 {
		t.Errorf("%d records are listed", seen)
	}
	seen, last := 0, ""
	for more := true; more; {
		in := args{"limit": 200}
		if last != "" {
			in["after_id"] = last
		}
		a := s.call("task_list", in).fine()
		if n := len(a.M.Bytes()); n > 4<<20 {
			t.Errorf("an answer of %d bytes", n)
		}
		n := int(a.number("count"))
		seen, last, more = seen+n, a.data("tasks", n-1, "id"), a.truth("more")
	}
	if seen != 25 {
		t.Errorf("%d tasks are listed", seen)
	}
}
