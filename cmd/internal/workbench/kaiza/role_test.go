package kaiza_test

import "testing"

// TestK12TheRoleIsThatOfTheSession starts servers with the other role's name in the command line and the environment.
func TestK12TheRoleIsThatOfTheSession(t *testing.T) {
	for _, role := range []struct{ mine, other, forbidden string }{
		{"ANTIGRAVITY", "windsurf", "write_file"},
		{"WINDSURF", "antigravity", "submit_plan"},
	} {
		t.Run(role.mine, func(t *testing.T) {
			overEveryTransport(t, func(t *testing.T, p *env, dial func() *client) {
				p.env = []string{"ROLE=" + role.other, "KAIZA_ROLE=" + role.other, "MCP_ROLE=" + role.other}
				c := dial()
				c.begin(role.mine)
				status := c.call("session_status", args{})
				if got := status.text("structuredContent", "role"); got != role.mine {
					t.Errorf("the session says it is %q", got)
				}
				refused := c.call(role.forbidden, args{"path": "src/a.txt", "content": planText("src/**"), "plan_hash": hashOf("x")})
				if role.forbidden == "submit_plan" {
					refused = c.call(role.forbidden, args{"content": planText("src/**")})
				}
				refused.is("UNAUTHORIZED_ACTION")
				if envelope := refused.system(); !envelope.Path("role").Is(role.mine) {
					t.Errorf("the envelope says %s", envelope.Raw())
				}
				c.call("list_plans", args{"role": role.mine}).fine()
				last := p.entries()
				if got := last[len(last)-1].Role; got != role.mine {
					t.Errorf("the trail says %q", got)
				}
			}, "--host", role.other+".example")
		})
	}
}

// TestK12RolesAreRefusedEachOthersTools tries every tool that changes something in both roles.
func TestK12RolesAreRefusedEachOthersTools(t *testing.T) {
	overEveryTransport(t, func(t *testing.T, p *env, dial func() *client) {
		planner := dial()
		planner.begin("ANTIGRAVITY")
		plan := planner.submit(planText("src/**"))
		p.approve(plan)
		write := args{"path": "src/a.txt", "content": "x\n", "plan_hash": plan}
		patch := args{"patch": "--- /dev/null\n+++ b/src/b.txt\n@@ -0,0 +1 @@\n+x\n", "plan_hash": plan}
		planner.call("write_file", write).is("UNAUTHORIZED_ACTION")
		planner.call("apply_patch", patch).is("UNAUTHORIZED_ACTION")
		planner.call("write_file", args{"path": "docs/reports/a.md", "content": "nothing to report"}).is("UNAUTHORIZED_ACTION")
		for _, name := range []string{"src/a.txt", "src/b.txt", "docs/reports/a.md"} {
			if _, there := p.read(name); there {
				t.Errorf("%s was written by a planner", name)
			}
		}
		planner.stop()

		executor := dial()
		executor.begin("WINDSURF")
		other := planText("other/**")
		executor.call("submit_plan", args{"content": other}).is("UNAUTHORIZED_ACTION")
		if _, there := p.read("docs/plans/" + hashOf(other) + ".md"); there {
			t.Error("an executor stored a plan")
		}
		executor.call("write_file", write).fine()
	})
}
