package dual_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/wire"
)

// nested returns nested arrays as JSON.
func nested(levels int) string {
	return strings.Repeat("[", levels) + strings.Repeat("]", levels)
}

// rawCall calls a tool with arguments given as JSON text.
func (s *server) rawCall(tool, arguments string) answer {
	s.T.Helper()
	m := s.Ask("tools/call", `{"name":"`+tool+`","arguments":`+arguments+`}`)
	return answer{s.T, &m}
}

// TestAnswersCanBeParsed checks that no context of a task, and no result of an upstream, makes an answer too deeply
// nested to be read.
func TestAnswersCanBeParsed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.start("--upstreams", p.upstreams(p.fake("deep"), p.fake("fine")))
	id := s.task(nil)
	for _, levels := range []int{1, 50, 63, 64, 65, 100, 110, 118, 120, 124} {
		a := s.rawCall("task_create", `{"title":"deep","context":{"a":`+nested(levels)+`}}`)
		b := s.rawCall("task_update", `{"id":"`+id+`","context":{"a":`+nested(levels)+`}}`)
		if a.code() != "" || b.code() != "" {
			if levels < 64 {
				t.Errorf("%d levels are refused: %s", levels, a.m.Bytes())
			}
			a.isB("ERR_VALIDATION")
			b.isB("ERR_VALIDATION")
		}
	}
	for tool, in := range map[string]args{"task_list": {}, "task_get": {"id": id}} {
		if a := s.call(tool, in).fine(); !a.m.Flaws().Empty() {
			t.Errorf("%s: %v", tool, a.m.Flaws())
		}
	}
	if a := s.route("read", "deep", "fine"); !a.m.Flaws().Empty() || a.data("upstream") != "fine" {
		t.Errorf("%v: %.500s", a.m.Flaws(), a.m.Bytes())
	}
}

// TestADamagedRowIsTheFailureOfTheServer checks that a damaged row is named, and that the other rows are still listed.
func TestADamagedRowIsTheFailureOfTheServer(t *testing.T) {
	t.Parallel()
	for column, value := range map[string]string{"context": "{bad", "created_at": "yesterday", "updated_at": "", "status": "ODD"} {
		p := newPlace(t)
		s := p.start()
		before, bad, after := s.task(nil), s.task(nil), s.task(nil)
		p.sql("UPDATE tasks SET "+column+" = ? WHERE id = ?", value, bad)
		for _, a := range []answer{s.call("task_get", args{"id": bad}), s.call("task_update", args{"id": bad, "title": "x"}), s.call("task_next_actions", args{"id": bad})} {
			a.isA("HANDLER_ERROR")
			if !a.detail("table").Is("tasks") || !a.detail("row").Is(bad) {
				t.Errorf("%s: %s", column, a.m.Bytes())
			}
		}
		for _, limit := range []int{1, 2, 50} {
			var ids []string
			var damaged wire.Value
			in := args{"limit": limit}
			for range 5 {
				a := s.call("task_list", in).fine()
				for task := range a.value("tasks").Elements() {
					id, _ := task.Path("id").Str()
					ids = append(ids, id)
				}
				if a.value("damaged").Present() {
					damaged = a.value("damaged", 0)
				}
				if !a.truth("more") {
					break
				}
				in["after_id"] = ids[len(ids)-1]
			}
			if strings.Join(ids, " ") != before+" "+after || !damaged.Path("row").Is(bad) {
				t.Errorf("%s, limit %d: %v, %s", column, limit, ids, damaged.Raw())
			}
		}
		out, said, code := p.person("tasks")
		if code != 1 || !strings.Contains(out, before) || !strings.Contains(out, after) || !strings.Contains(out+said, bad) {
			t.Errorf("%s: code %d, %s%s", column, code, out, said)
		}
	}
}

// TestNothingIsAppendedToADamagedChain checks that no record is appended, because it would confirm the damaged one.
func TestNothingIsAppendedToADamagedChain(t *testing.T) {
	t.Parallel()
	for _, change := range []string{"seq = -5", "content = 'other'", "hash = 'x'", "timestamp = ''"} {
		p := newPlace(t)
		s := p.start()
		id := s.task(nil)
		s.think(id, nil).fine()
		last := s.think(id, nil).fine().data("id")
		p.sql("UPDATE thoughts SET "+change+" WHERE id = ?", last)
		if a := s.think(id, nil).isA("HANDLER_ERROR"); !a.detail("row").Is(last) || !a.detail("table").Is("thoughts") {
			t.Errorf("%s: %s", change, a.m.Bytes())
		}
		if n := s.call("thought_record_list", args{"task_id": id}).fine().number("count"); n != 2 {
			t.Errorf("%s: %d records", change, n)
		}
	}
}

// TestLoneSurrogateIsRefused checks that an unpaired surrogate, which cannot be stored, is refused and not silently
// replaced.
func TestLoneSurrogateIsRefused(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	id := s.task(nil)
	for tool, in := range map[string]string{
		"task_create":    `{"title":"a\ud800b"}`,
		"task_update":    `{"id":"` + id + `","context":{"k\udc00":1}}`,
		"thought_record": `{"task_id":"` + id + `","type":"plan","agent_id":"a","content":"\uD83D"}`,
	} {
		s.rawCall(tool, in).isA("INVALID_PARAMS")
	}
	if a := s.rawCall("task_create", `{"title":"a\ud83d\ude00\\ud800"}`).fine(); a.data("title") != `a😀\ud800` {
		t.Errorf("%s", a.value().Raw())
	}
}

// TestIssuesHaveOneFormOfPath checks that a path is a JSON Pointer, from a schema and from a rule.
func TestIssuesHaveOneFormOfPath(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	for _, a := range []answer{
		s.call("task_create", args{}), s.call("task_create", args{"title": 7}), s.call("task_create", args{"title": " "}),
		s.call("router_call", args{"tool": "t", "upstreams": []string{"none"}}), s.call("router_stats", args{"upstream": "none"}),
	} {
		path, _ := a.detail("issues", 0, "path").Str()
		if a.code() == "" || path != "" && !strings.HasPrefix(path, "/") {
			t.Errorf("the path is %q: %s", path, a.m.Bytes())
		}
	}
}

// TestACancelledDependencyIsNotAwaited checks that a task does not wait for a dependency that never becomes DONE.
func TestACancelledDependencyIsNotAwaited(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	first, second := s.task(nil), s.task(nil)
	id := s.task(args{"depends_on": []string{first, second}})
	s.advance(id, "PLAN")
	if next := strings.Join(texts(s.call("task_next_actions", args{"id": id}).fine(), "next"), " "); !strings.Contains(next, "Wait until") {
		t.Error(next)
	}
	s.call("task_update", args{"id": first, "status": "CANCELLED"}).fine()
	a := s.call("task_next_actions", args{"id": id}).fine()
	if next := strings.Join(texts(a, "next"), " "); strings.Contains(next, "Wait until") || !strings.Contains(next, "CANCELLED") || strings.Join(texts(a, "cancelled"), " ") != first {
		t.Errorf("%s", a.value().Raw())
	}
	refused := s.call("task_update", args{"id": id, "status": "APPLY"}).isB("ERR_INVALID_TRANSITION")
	if !refused.detail("cancelled", 0).Is(first) {
		t.Errorf("%s", refused.detail().Raw())
	}
}
