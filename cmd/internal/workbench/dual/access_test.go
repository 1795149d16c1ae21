package dual_test

import (
	"slices"
	"testing"

	"github.com/candor-mcp/candor/ledger"
)

// writers lists the tools that change something.
var writers = []string{"thought_record", "consensus_propose", "consensus_vote", "router_call", "task_create", "task_update", "audit_session_start", "merkle_finalize"}

// TestD8ReadOnlyAndMinimalRefuse calls all 27 tools with each access. A tool that is not allowed is refused with a code
// before its arguments are read, is recorded as denied, and changes nothing.
func TestD8ReadOnlyAndMinimalRefuse(t *testing.T) {
	t.Parallel()
	for _, access := range []string{"readonly", "minimal"} {
		p := newPlace(t)
		s := p.start()
		id := s.task(nil)
		s.call("audit_session_start", args{"session_id": "s"}).fine()
		before := string(s.call("server_health", args{}).fine().value("db_tables").Raw())
		s.End()
		s = p.start("--access", access)
		refused := 0
		for tool := range inventory {
			admitted := !slices.Contains(writers, tool)
			if access == "minimal" {
				admitted = tool == "server_ping" || tool == "server_health"
			}
			a := s.call(tool, args{"zz_unknown": 1})
			if admitted {
				a.isA("INVALID_PARAMS")
				continue
			}
			refused++
			a.isA("TOOL_NOT_ADMITTED")
			if !a.detail("access").Is(access) || !a.detail("tool").Is(tool) {
				t.Errorf("%s", a.detail().Raw())
			}
		}
		s.call("task_create", args{"title": "x"}).isA("TOOL_NOT_ADMITTED")
		s.call("task_update", args{"id": id, "status": "GATHER"}).isA("TOOL_NOT_ADMITTED")
		s.call("merkle_finalize", args{"session_id": "s"}).isA("TOOL_NOT_ADMITTED")
		health := s.call("server_health", args{}).fine()
		if after := string(health.value("db_tables").Raw()); after != before || health.data("access") != access {
			t.Errorf("%s: %s, before %s", access, health.value().Raw(), before)
		}
		if want := map[string]int{"readonly": 8, "minimal": 25}[access]; refused != want {
			t.Errorf("%s refuses %d tools, want %d", access, refused, want)
		}
		s.End()
		denied := 0
		for _, e := range p.entries() {
			if e.Kind == ledger.KindExit && e.Outcome == ledger.OutcomeDenied && e.Code == "TOOL_NOT_ADMITTED" {
				denied++
			}
		}
		if denied != refused+3 {
			t.Errorf("%s: %d calls are denied in the trail, want %d", access, denied, refused+3)
		}
	}
}
