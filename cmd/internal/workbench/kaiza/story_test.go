package kaiza_test

import "testing"

// TestTheWholeStoryWorksOverEveryTransport plans, approves, writes, breaks a rule, reports and continues.
func TestTheWholeStoryWorksOverEveryTransport(t *testing.T) {
	for name, connect := range map[string]func(p *env) func() *client{
		"stdio":     func(p *env) func() *client { return func() *client { return &p.start().client } },
		"stateful":  func(p *env) func() *client { w := p.listen(); return w.stateful },
		"stateless": func(p *env) func() *client { w := p.listen(); return w.stateless },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			dial := connect(p)
			planner := dial()
			planner.begin("ANTIGRAVITY")
			plan := planner.submit(planText("src/**"))
			planner.call("write_file", args{"path": "src/new.txt", "content": "x", "plan_hash": plan}).is("UNAUTHORIZED_ACTION")
			planner.stop()

			executor := dial()
			executor.call("read_file", args{"path": "src/hello.txt"}).is("SESSION_NOT_INITIALIZED")
			executor.begin("WINDSURF")
			executor.call("write_file", args{"path": "src/new.txt", "content": "new\n", "plan_hash": plan}).is("PLAN_NOT_APPROVED")
			p.approve(plan)
			executor.call("write_file", args{"path": "src/new.txt", "content": "new\n", "plan_hash": plan}).fine()
			if got, _ := p.read("src/new.txt"); got != "new\n" {
				t.Errorf("the file holds %q", got)
			}
			executor.call("write_file", args{"path": "README.md", "content": "x", "plan_hash": plan}).is("PLAN_SCOPE_VIOLATION")
			executor.call("write_file", args{"path": "src/more.txt", "content": "x", "plan_hash": plan}).is("SESSION_LOCKED")
			executor.call("read_file", args{"path": "src/hello.txt"}).fine()
			executor.call("write_file", args{"path": "docs/reports/one.md", "content": "I wrote outside the plan."}).fine()
			executor.call("write_file", args{"path": "src/more.txt", "content": "x", "plan_hash": plan}).fine()
			executor.stop()
			p.verify()
		})
	}
}
