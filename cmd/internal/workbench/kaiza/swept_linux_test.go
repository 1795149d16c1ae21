package kaiza_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// between returns the result that corresponds to the content of a file.
func between(holds, before, after string) string {
	switch holds {
	case before:
		return notDone
	case after:
		return done
	}
	return fmt.Sprintf("%q", holds)
}

// swept lists the effects of the server and of the operator's commands.
var swept = []effect{
	{
		name: "a new file", role: "WINDSURF", tool: "write_file",
		call: func(s *sweep, n int) answer {
			return s.c.call("write_file", args{"path": fmt.Sprintf("src/new/n%d/a.txt", n), "content": "new\n", "plan_hash": s.plan, "make_dirs": true})
		},
		stood: func(s *sweep, n int) string {
			return between(s.holds(fmt.Sprintf("src/new/n%d/a.txt", n)), "nothing", "new\n")
		},
		mark: func(_ *sweep, n int) string { return fmt.Sprintf(`"src/new/n%d/a.txt"`, n) },
	},
	{
		name: "a replaced file", role: "WINDSURF", tool: "write_file",
		setUp: func(s *sweep, n int) { s.p.write(fmt.Sprintf("src/r%d.txt", n), "old\n") },
		call: func(s *sweep, n int) answer {
			return s.c.call("write_file", args{"path": fmt.Sprintf("src/r%d.txt", n), "content": "new\n", "previous_hash": hashOf("old\n"), "plan_hash": s.plan})
		},
		stood: func(s *sweep, n int) string { return between(s.holds(fmt.Sprintf("src/r%d.txt", n)), "old\n", "new\n") },
		mark:  func(_ *sweep, n int) string { return fmt.Sprintf(`"src/r%d.txt"`, n) },
	},
	{
		name: "a patch of three files", role: "WINDSURF", tool: "apply_patch",
		setUp: func(s *sweep, n int) {
			s.p.write(fmt.Sprintf("src/p%d/change.txt", n), "old\n")
			s.p.write(fmt.Sprintf("src/p%d/remove.txt", n), "old\n")
		},
		call: func(s *sweep, n int) answer {
			const change = "--- a/src/pN/change.txt\n+++ b/src/pN/change.txt\n@@ -1 +1 @@\n-old\n+new\n" +
				"--- a/src/pN/remove.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n" +
				"--- /dev/null\n+++ b/src/pN/create.txt\n@@ -0,0 +1 @@\n+new\n"
			return s.c.call("apply_patch", args{"patch": strings.ReplaceAll(change, "pN", fmt.Sprintf("p%d", n)), "plan_hash": s.plan})
		},
		stood: func(s *sweep, n int) string {
			at := func(name string) string { return s.holds(fmt.Sprintf("src/p%d/%s.txt", n, name)) }
			return between(at("change")+at("remove")+at("create"), "old\nold\nnothing", "new\nnothingnew\n")
		},
		mark: func(_ *sweep, n int) string { return fmt.Sprintf(`"src/p%d/change.txt"`, n) },
	},
	{
		name: "a file that a check refuses", role: "WINDSURF", tool: "write_file",
		flags: func(p *env) []string { return []string{"--policy", p.checks("test ! -e src/refuse")} },
		setUp: func(s *sweep, n int) { s.p.write("src/refuse", "") },
		call: func(s *sweep, n int) answer {
			return s.c.call("write_file", args{"path": fmt.Sprintf("src/f%d.txt", n), "content": "new\n", "plan_hash": s.plan})
		},
		after: func(s *sweep, _ int, _ outcome) {
			if err := os.Remove(s.p.file("src/refuse")); err != nil {
				s.t.Fatal(err)
			}
		},
		stood: func(s *sweep, n int) string {
			return between(s.holds(fmt.Sprintf("src/f%d.txt", n)), "nothing", "new\n")
		},
		mark: func(_ *sweep, n int) string { return fmt.Sprintf(`"src/f%d.txt"`, n) },
	},
	{
		name: "a report that unlocks", role: "WINDSURF", tool: "write_file",
		setUp: func(s *sweep, n int) {
			s.c.call("write_file", args{"path": "outside.txt", "content": "x", "plan_hash": s.plan}).is("PLAN_SCOPE_VIOLATION")
		},
		call: func(s *sweep, n int) answer {
			return s.c.call("write_file", args{"path": fmt.Sprintf("docs/reports/r%d.md", n), "content": "new\n"})
		},
		after: func(s *sweep, n int, a outcome) {
			s.p.eventually("the server works again", func() bool { return s.c.call("session_status", args{}).code() == "" })
			if a.told == done && a.m.Result().Path("structuredContent", "unlocked").Present() != (s.c.lockedBy() == "") {
				s.t.Errorf("the report %d was written, and whether the session is unlocked is not as it is told: %s", n, a.m.Bytes())
			}
		},
		stood: func(s *sweep, n int) string {
			return between(s.holds(fmt.Sprintf("docs/reports/r%d.md", n)), "nothing", "new\n")
		},
		mark: func(_ *sweep, n int) string { return fmt.Sprintf(`"docs/reports/r%d.md"`, n) },
	},
	{
		name: "a plan", role: "ANTIGRAVITY", tool: "submit_plan",
		call: func(s *sweep, n int) answer {
			return s.c.call("submit_plan", args{"content": planText(fmt.Sprintf("s%d/**", n))})
		},
		stood: func(s *sweep, n int) string {
			if _, there := s.p.read("docs/plans/" + hashOf(planText(fmt.Sprintf("s%d/**", n))) + ".md"); there {
				return done
			}
			return notDone
		},
		mark: func(_ *sweep, n int) string { return hashOf(planText(fmt.Sprintf("s%d/**", n))) },
	},
	{
		name: "a new file without a trail", role: "WINDSURF", tool: "write_file",
		flags: func(*env) []string { return []string{"--ledger", "none"} },
		call: func(s *sweep, n int) answer {
			return s.c.call("write_file", args{"path": fmt.Sprintf("src/t%d.txt", n), "content": "new\n", "plan_hash": s.plan})
		},
		stood: func(s *sweep, n int) string {
			return between(s.holds(fmt.Sprintf("src/t%d.txt", n)), "nothing", "new\n")
		},
	},
	{
		name: "a session", tool: "begin_session",
		setUp: func(s *sweep, _ int) { s.end(); s.start() },
		call: func(s *sweep, _ int) answer {
			return s.c.call("begin_session", args{"workspace_root": s.p.work, "role": "WINDSURF"})
		},
		stood: func(s *sweep, n int) string {
			if s.found[n] == "" {
				s.p.eventually("the server works again", func() bool {
					s.found[n] = map[string]string{"": done, "SESSION_NOT_INITIALIZED": notDone}[s.c.call("session_status", args{}).code()]
					return s.found[n] != ""
				})
			}
			return s.found[n]
		},
	},
	{
		name: "a deleted file", role: "WINDSURF", tool: "delete_file",
		setUp: func(s *sweep, n int) { s.p.write(fmt.Sprintf("src/d%d.txt", n), "old\n") },
		call: func(s *sweep, n int) answer {
			return s.c.call("delete_file", args{"path": fmt.Sprintf("src/d%d.txt", n), "previous_hash": hashOf("old\n"), "plan_hash": s.plan})
		},
		stood: func(s *sweep, n int) string {
			return between(s.holds(fmt.Sprintf("src/d%d.txt", n)), "old\n", "nothing")
		},
		mark: func(_ *sweep, n int) string { return fmt.Sprintf(`"src/d%d.txt"`, n) },
	},
	{
		name: "an undo", role: "WINDSURF", tool: "workbench undo",
		flags: func(*env) []string { return []string{"--ledger", "none"} },
		setUp: func(s *sweep, n int) {
			past, _ := filepath.Glob(filepath.Join(s.p.state, "workspaces", "*", "history", "*"))
			for _, name := range past { // so that each command makes the same calls
				_ = os.RemoveAll(name)
			}
			s.c.call("write_file", args{"path": fmt.Sprintf("src/u%d.txt", n), "content": "new\n", "plan_hash": s.plan}).fine()
		},
		run: func(*sweep, int) []string { return []string{"workbench", "undo"} },
		stood: func(s *sweep, n int) string {
			return between(s.holds(fmt.Sprintf("src/u%d.txt", n)), "new\n", "nothing")
		},
		mark: func(_ *sweep, n int) string { return fmt.Sprintf(`"src/u%d.txt"`, n) },
	},
	{
		name: "an approval", role: "ANTIGRAVITY", tool: "workbench approve",
		setUp: func(s *sweep, n int) { s.c.submit(planText(fmt.Sprintf("a%d/**", n))) },
		run: func(_ *sweep, n int) []string {
			return []string{"workbench", "approve", hashOf(planText(fmt.Sprintf("a%d/**", n)))}
		},
		stood: func(s *sweep, n int) string {
			return between(s.status(fmt.Sprintf("a%d/**", n)), "PROPOSED", "APPROVED")
		},
		mark: func(_ *sweep, n int) string { return hashOf(planText(fmt.Sprintf("a%d/**", n))) },
	},
	{
		name: "a revocation", role: "ANTIGRAVITY", tool: "workbench revoke",
		setUp: func(s *sweep, n int) {
			s.put("approvals", "approvals-put-away") // a revocation reads all of them, and would make more calls each time
			s.p.approve(s.c.submit(planText(fmt.Sprintf("v%d/**", n))))
		},
		restore: func(s *sweep) { s.put("approvals-put-away", "approvals") },
		run: func(_ *sweep, n int) []string {
			return []string{"workbench", "revoke", hashOf(planText(fmt.Sprintf("v%d/**", n)))}
		},
		stood: func(s *sweep, n int) string {
			return between(s.status(fmt.Sprintf("v%d/**", n)), "APPROVED", "PROPOSED")
		},
		mark: func(_ *sweep, n int) string { return hashOf(planText(fmt.Sprintf("v%d/**", n))) },
	},
	{
		name: "an unlock", role: "WINDSURF", tool: "workbench unlock",
		setUp: func(s *sweep, n int) { s.marks[n] = s.c.breakRule(s.plan) },
		run: func(s *sweep, _ int) []string {
			for _, name := range s.p.lockFiles() {
				if session, ok := strings.CutSuffix(filepath.Base(name), ".json"); ok {
					return []string{"workbench", "unlock", session}
				}
			}
			return []string{"workbench", "unlock", "none"}
		},
		stood: func(s *sweep, n int) string {
			if s.found[n] == "" {
				s.p.eventually("the server works again", func() bool { return s.c.call("session_status", args{}).code() == "" })
				s.found[n] = between(s.c.lockedBy(), "PLAN_SCOPE_VIOLATION", "")
			}
			return s.found[n]
		},
		mark: func(s *sweep, n int) string { return s.marks[n] },
	},
}

// put moves the approval records from one folder in the state folder to another.
func (s *sweep) put(from, to string) {
	names, _ := filepath.Glob(filepath.Join(s.p.state, from, "*", "*.json"))
	for _, name := range names {
		rel, err := filepath.Rel(filepath.Join(s.p.state, from), name)
		s.p.must(err)
		s.p.must(os.MkdirAll(filepath.Dir(filepath.Join(s.p.state, to, rel)), 0o700))
		s.p.must(os.Rename(name, filepath.Join(s.p.state, to, rel)))
	}
}

// status returns the status of the plan for a scope, as a session sees it.
func (s *sweep) status(scope string) string {
	a := s.c.call("read_plan", args{"plan_hash": hashOf(planText(scope))})
	a.fine()
	if approved, _ := a.m.Result().Path("structuredContent", "approved").Bool(); approved {
		return "APPROVED"
	}
	return "PROPOSED"
}
