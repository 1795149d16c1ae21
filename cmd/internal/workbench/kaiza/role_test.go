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
