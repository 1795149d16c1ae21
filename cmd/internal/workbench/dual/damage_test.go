package dual_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
)

// nested returns nested arrays as JSON.
func nested(levels int) string {
	return strings.Repeat("[", levels) + strings.Repeat("]", levels)
}

// rawCall calls a tool with arguments given as JSON text.
func (s *server) rawCall(tool, arguments string) answer {
	s.T.Helper()
	m := s.Ask("tools/call", `{"name":"`+tool+`","arguments":`+arguments+`}`)
	return answer{servertest.Answer{T: s.T, M: &m}}
}

// TestAnswersCanBeParsed checks that no context of a task makes an answer too deeply nested to be read.
func TestAnswersCanBeParsed(t *testing.T) {
	t.Parallel()
	s := newPlace(t).start()
	id := s.task(nil)
	for _, levels := range []int{1, 50, 63, 64, 65, 100, 110, 118, 120, 124} {
		a := s.rawCall("task_create", `{"title":"deep","context":{"a":`+nested(levels)+`}}`)
		b := s.rawCall("task_update", `{"id":"`+id+`","context":{"a":`+nested(levels)+`}}`)
		if a.Code() != "" || b.Code() != "" {
			if levels < 64 {
				t.Errorf("%d levels are refused: %s", levels, a.M.Bytes())
			}
			a.isB("ERR_VALIDATION")
			b.isB("ERR_VALIDATION")
		}
	}
	for tool, in := range map[string]args{"task_list": {}, "task_get": {"id": id}} {
		if a := s.call(tool, in).fine(); !a.M.Flaws().Empty() {
			t.Errorf("%s: %v", tool, a.M.Flaws())
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
		if a := s.think(id, nil).isA("HANDLER_ERROR"); !strings.Contains(string(a.M.Bytes()), "Record "+last+" was changed") {
			t.Errorf("%s: %s", change, a.M.Bytes())
		}
		if n := s.call("thought_record_list", args{"task_id": id}).fine().number("count"); n != 2 {
			t.Errorf("%s: %d records", change, n)
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
}
