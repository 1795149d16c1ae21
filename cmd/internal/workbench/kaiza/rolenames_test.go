package kaiza_test

import (
	"slices"
	"testing"
)

// listed returns the names of the tools that tools/list returns.
func (c *client) listed() (names []string) {
	m := c.ask("tools/list", `{}`)
	for tool := range m.Result().Path("tools").Elements() {
		name, _ := tool.Path("name").Str()
		names = append(names, name)
	}
	return names
}

// TestRoleNamesByFunction begins sessions as planner and executor, and checks the listed and refused tools of each.
func TestRoleNamesByFunction(t *testing.T) {
	t.Parallel()
	changing := []string{"apply_patch", "move_file", "delete_file", "make_dir", "set_executable"}
	for _, role := range []struct {
		name, same, other string
		hidden            []string
	}{
		{"planner", "ANTIGRAVITY", "executor", changing},
		{"executor", "WINDSURF", "planner", []string{"submit_plan"}},
		{"ANTIGRAVITY", "planner", "WINDSURF", changing},
		{"WINDSURF", "executor", "ANTIGRAVITY", []string{"submit_plan"}},
	} {
		t.Run(role.name, func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			s := p.start()
			all := s.listed()
			s.begin(role.name)
			shown := s.listed()
			for _, tool := range all {
				if hidden := slices.Contains(role.hidden, tool); slices.Contains(shown, tool) == hidden {
					t.Errorf("%s is hidden: %v", tool, !hidden)
				}
			}
			if len(all) != len(shown)+len(role.hidden) {
				t.Errorf("%d tools of %d are shown", len(shown), len(all))
			}
			s.call("session_status", args{"role": role.same}).fine()
			s.call("session_status", args{"role": role.other}).is("ROLE_MISMATCH")
			if got := s.call("session_status", args{}).text("structuredContent", "role"); got != role.name {
				t.Errorf("the session says it is %q", got)
			}
			refused := s.call("submit_plan", args{"content": planText("src/**")})
			if slices.Contains(role.hidden, "apply_patch") {
				refused.fine()
				refused = s.call("delete_file", args{"path": "src/hello.txt", "previous_hash": hashOf(hello), "plan_hash": hashOf("x")})
			}
			refused.is("UNAUTHORIZED_ACTION")
			if got, _ := refused.canonical().Path("details", "allowed_role").Str(); got != role.other {
				t.Errorf("it names %q as the role that may", got)
			}
		})
	}
}

// TestAnUnknownRoleIsRefused tries role names that do not exist.
func TestAnUnknownRoleIsRefused(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	for _, role := range []string{"PLANNER", "operator", "OPERATOR", ""} {
		p.start().call("begin_session", args{"workspace_root": p.work, "role": role}).is("INVALID_INPUT_VALUE")
	}
}

// TestALockHoldsForBothNamesOfARole begins a session as executor after a session as WINDSURF was locked.
func TestALockHoldsForBothNamesOfARole(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	s := p.executor()
	s.call("write_file", args{"path": "outside.txt", "content": "x", "plan_hash": plan}).is("PLAN_SCOPE_VIOLATION")
	s.Kill()
	next := p.start()
	next.begin("executor")
	next.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan}).is("SESSION_LOCKED")
	next.call("write_file", args{"path": "docs/reports/one.md", "content": "It was the one before me."}).fine()
	next.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan}).fine()
}
