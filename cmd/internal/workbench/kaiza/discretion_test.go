package kaiza_test

import (
	"strings"
	"testing"
)

// TestSessionIDsOfOthersAreHidden begins two sessions in one workspace, locks one, and reads everything that the other
// may read.
func TestSessionIDsOfOthersAreHidden(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	w := p.listen()
	first, second := w.stateless(), w.stateless()
	id := first.begin("WINDSURF")
	first.call("write_file", args{"path": "outside.txt", "content": "x", "plan_hash": plan}).is("PLAN_SCOPE_VIOLATION")
	own := second.begin("WINDSURF")
	second.call("list_dir", args{"path": "."}).fine()
	seen := ""
	for tool, in := range map[string]args{
		"read_audit_log": {}, "session_status": {},
		"write_file": {"path": "docs/reports/one.md", "content": "Another session wrote outside its plan."},
	} {
		a := second.call(tool, in)
		a.fine()
		seen += string(a.m.Bytes())
	}
	if strings.Contains(seen, id) || !strings.Contains(seen, id[:8]) || !strings.Contains(seen, own) {
		t.Errorf("the id %s of another is told, or cannot even be told apart, in %s", id, seen)
	}
}
