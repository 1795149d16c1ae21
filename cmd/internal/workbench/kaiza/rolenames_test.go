package kaiza_test

import "testing"

// TestK12RolesAreRefusedEachOthersTools begins sessions as planner and executor, and checks the refused tools of each.
func TestK12RolesAreRefusedEachOthersTools(t *testing.T) {
	t.Parallel()
	for _, role := range []struct {
		name, same, other string
		plans             bool
	}{
		{"planner", "ANTIGRAVITY", "executor", true},
		{"executor", "WINDSURF", "planner", false},
		{"ANTIGRAVITY", "planner", "WINDSURF", true},
		{"WINDSURF", "executor", "ANTIGRAVITY", false},
	} {
		t.Run(role.name, func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			s := p.start()
			s.begin(role.name)
			s.call("session_status", args{"role": role.same}).fine()
			s.call("session_status", args{"role": role.other}).is("ROLE_MISMATCH")
			if got := s.call("session_status", args{}).text("structuredContent", "role"); got != role.name {
				t.Errorf("the session says it is %q", got)
			}
			refused := s.call("submit_plan", args{"content": planText("src/**")})
			if role.plans {
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
