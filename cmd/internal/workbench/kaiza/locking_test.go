package kaiza_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// lockedBy returns the code that locked the session, or "".
func (c *client) lockedBy() string {
	c.t.Helper()
	a := c.call("session_status", args{})
	a.fine()
	locked, _ := a.m.Result().Path("structuredContent", "locked").Bool()
	code := a.text("structuredContent", "lock", "code")
	if locked != (code != "") {
		c.t.Errorf("the status contradicts itself: %s", a.m.Bytes())
	}
	return code
}

// locks checks that a failure with this code has locked the session, and that all calls that change something are
// refused.
func (c *client) locks(a answer, code, plan string) {
	c.t.Helper()
	a.enveloped(code)
	if got := c.lockedBy(); got != code {
		c.t.Errorf("%s: the session is locked by %q", code, got)
	}
	refused := c.call("write_file", args{"path": "src/locked.txt", "content": "x", "plan_hash": plan})
	refused.enveloped("SESSION_LOCKED")
	details := refused.canonical().Path("details")
	if !details.Path("locked_by").Is(code) || !details.Path("ref").Is(a.ref()) {
		c.t.Errorf("who is locked out is told %s", details.Raw())
	}
	if _, there := c.p.read("src/locked.txt"); there {
		c.t.Error("a locked session has written")
	}
}

// report writes a report, which must unlock the session.
func (c *client) report(name string) {
	c.t.Helper()
	c.call("write_file", args{"path": "docs/reports/" + name, "content": "What went wrong, and why."}).fine()
	if got := c.lockedBy(); got != "" {
		c.t.Errorf("after the report the session is still locked by %s", got)
	}
}

// lawful starts a server with a policy and a session in the executor role, with a plan for src/ and a plan that was
// changed after its approval.
func lawful(p *env) (c *stdio, plan, forged string) {
	p.t.Helper()
	policy := p.policyFile("rules:\n  - id: NO_TABS\n    pattern: '\\t'\n    message: No tabs here.\n" +
		"preflight:\n  - name: refuses\n    run: [sh, -c, \"test ! -e src/fails.txt\"]\n")
	plan, forged = p.approved("src/**"), p.approved("etc/**")
	name := "docs/plans/" + forged + ".md"
	text, _ := p.read(name)
	p.write(name, strings.Replace(text, "etc/**", "src/**", 1))
	return p.executor("--drill", "--policy", policy), plan, forged
}

// breaches maps codes to calls that break a rule.
func breaches(plan, forged string) map[string]func(c *client) answer {
	write := func(path, content, plan string) func(c *client) answer {
		return func(c *client) answer {
			return c.call("write_file", args{"path": path, "content": content, "plan_hash": plan})
		}
	}
	return map[string]func(c *client) answer{
		"INVARIANT_VIOLATION":     func(c *client) answer { return c.call("drill", args{"kind": "invariant"}) },
		"POLICY_VIOLATION":        write("src/tab.txt", "a\tb\n", plan),
		"RUST_POLICY_VIOLATION":   write("src/a.rs", "fn main() { None::<u8>.unwrap(); }\n", plan),
		"PLAN_ENFORCEMENT_FAILED": write("src/forged.txt", "x", forged),
		"PLAN_SCOPE_VIOLATION":    write("outside.txt", "x", plan),
	}
}

func TestK11EachOfTheFiveCodesLocksAndAReportUnlocks(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	c, plan, forged := lawful(p)
	for _, again := range []string{"-one.md", "-two.md"} { // an unlocked session can be locked again
		for code, breach := range breaches(plan, forged) {
			c.locks(breach(&c.client), code, plan)
			c.report(code + again)
			c.call("write_file", args{"path": "src/" + code + again, "content": "x", "plan_hash": plan}).fine()
		}
	}
	c.stop()
	p.verify()
}

// TestK11EveryWayToBreakARuleLocks has a tool panic, and return the equivalent code of another system.
func TestK11EveryWayToBreakARuleLocks(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	c := p.executor("--drill")
	for _, kind := range []string{"panic_invariant", "foreign_rule"} {
		c.locks(c.call("drill", args{"kind": kind}), "INVARIANT_VIOLATION", hashOf("x"))
		c.report(kind + ".md")
	}
}

// TestK11NoOtherCodeLocks causes every code that a session can get. Together with the locking codes and those outside of
// sessions, they must be all codes.
func TestK11NoOtherCodeLocks(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	if err := os.Symlink(p.state, p.file("out")); err != nil {
		t.Fatal(err)
	}
	p.write("docs/reports/taken.md/inside", "x")
	c, plan, forged := lawful(p)
	planner := p.start()
	planner.begin("ANTIGRAVITY")
	waiting := planner.submit(planText("waiting/**"))
	planner.stop()
	misfit := "--- a/src/hello.txt\n+++ b/src/hello.txt\n@@ -1,2 +1,2 @@\n goodbye\n-world\n+moon\n"
	write := func(path, plan string) args { return args{"path": path, "content": "x\n", "plan_hash": plan} }
	harmless := map[string]struct {
		tool string
		in   any
	}{
		"INVALID_INPUT_TYPE":       {"read_file", args{"path": 5}},
		"INVALID_INPUT_FORMAT":     {"read_file", json.RawMessage(`[]`)},
		"INVALID_INPUT_VALUE":      {"read_file", args{"path": ""}},
		"MISSING_REQUIRED_FIELD":   {"write_file", args{"path": "src/a.txt", "content": "x"}},
		"UNAUTHORIZED_ACTION":      {"submit_plan", args{"content": planText("src/**")}},
		"INSUFFICIENT_PERMISSIONS": {"drill", args{"kind": "wrapped"}},
		"ROLE_MISMATCH":            {"read_file", args{"path": "src/hello.txt", "role": "ANTIGRAVITY"}},
		"INVALID_PATH":             {"write_file", write("src/\x00", plan)},
		"PATH_NOT_FOUND":           {"write_file", write("src/none/a.txt", plan)},
		"PATH_TRAVERSAL_BLOCKED":   {"write_file", write("src/../../a.txt", plan)},
		"OUTSIDE_WORKSPACE":        {"read_file", args{"path": "out/version.json"}},
		"FILE_NOT_FOUND":           {"read_file", args{"path": "src/none"}},
		"FILE_ALREADY_EXISTS":      {"write_file", write("src/hello.txt", plan)},
		"FILE_READ_FAILED":         {"read_file", args{"path": "src"}},
		"FILE_WRITE_FAILED":        {"write_file", args{"path": "docs/reports/taken.md", "content": "x"}},
		"PATCH_INVALID":            {"apply_patch", args{"patch": "no patch", "plan_hash": plan}},
		"PATCH_APPLY_FAILED":       {"apply_patch", args{"patch": misfit, "plan_hash": plan}},
		"HASH_MISMATCH":            {"write_file", args{"path": "src/hello.txt", "content": "x", "previous_hash": hashOf("x"), "plan_hash": plan}},
		"PLAN_NOT_FOUND":           {"write_file", write("src/a.txt", hashOf("x"))},
		"PLAN_NOT_APPROVED":        {"write_file", write("waiting/a.txt", waiting)},
		"PREFLIGHT_FAILED":         {"write_file", write("src/fails.txt", plan)},
		"BOOTSTRAP_FAILURE":        {"begin_session", args{"workspace_root": p.work, "role": "WINDSURF"}},
		"INTERNAL_ERROR":           {"drill", args{"kind": "panic"}},
		"UNKNOWN_TOOL_FAILURE":     {"drill", args{"kind": "silent"}},
	}
	for code, trial := range harmless {
		c.call(trial.tool, trial.in).enveloped(code)
		if by := c.lockedBy(); by != "" {
			t.Fatalf("%s has locked the session", code)
		}
	}
	c.call("write_file", write("src/after.txt", plan)).fine()

	seen := slices.Concat(slices.Collect(maps.Keys(harmless)), slices.Collect(maps.Keys(breaches(plan, forged))), []string{
		"SESSION_NOT_INITIALIZED", "SESSION_LOCKED", "SESSION_INITIALIZATION_FAILED", "SELF_AUDIT_FAILURE", "AUDIT_LOG_FAILED", "AUDIT_LOCK_FAILED",
	})
	slices.Sort(seen)
	if all := slices.Sorted(maps.Keys(registered())); !slices.Equal(seen, all) {
		t.Errorf("these codes were looked at: %v, and there are %v", seen, all)
	}
}

// TestK11ALockedSessionMayReadAndReport tries every tool that the server lists.
func TestK11ALockedSessionMayReadAndReport(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	c := p.executor("--drill")
	c.locks(c.call("drill", args{"kind": "invariant"}), "INVARIANT_VIOLATION", plan)
	allowed := map[string]args{
		"session_status": {}, "read_file": {"path": "src/hello.txt"}, "list_dir": {"path": "."},
		"list_plans": {}, "read_plan": {"plan_hash": plan}, "lint_plan": {"content": planText("src/**")}, "read_audit_log": {},
	}
	refused := map[string]args{
		"write_file": {"path": "src/a.txt", "content": "x", "plan_hash": plan}, "submit_plan": {"content": planText("src/**")}, "drill": {"kind": "error"},
		"apply_patch": {"patch": "--- /dev/null\n+++ b/src/b.txt\n@@ -0,0 +1 @@\n+x\n", "plan_hash": plan},
		"edit_file":   {"path": "src/hello.txt", "old_text": "hello", "new_text": "x", "plan_hash": plan}, "run_checks": {},
		"delete_file": {"path": "src/hello.txt", "previous_hash": hashOf("hello\nworld\n"), "plan_hash": plan},
	}
	m := c.ask("tools/list", `{}`)
	for tool := range m.Result().Path("tools").Elements() {
		name, _ := tool.Path("name").Str()
		reads, _ := tool.Path("annotations", "readOnlyHint").Bool()
		switch in, may := allowed[name]; {
		case name == "begin_session":
			c.call(name, args{"workspace_root": p.work, "role": "ANTIGRAVITY"}).is("BOOTSTRAP_FAILURE")
		case may != reads:
			t.Errorf("%s: it only reads: %v, and a locked session may use it: %v", name, reads, may)
		case may:
			c.call(name, in).fine()
		case refused[name] == nil:
			t.Errorf("nobody knows whether a locked session may use %s", name)
		default:
			c.call(name, refused[name]).enveloped("SESSION_LOCKED")
		}
		if c.lockedBy() == "" {
			t.Fatalf("%s has lifted the lock", name)
		}
	}
	c.report("one.md")
}

// TestK11NothingButAReportUnlocks tries writes that resemble a report.
func TestK11NothingButAReportUnlocks(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**", "docs/reports/**")
	p.write("docs/reports/old.md", "old\n")
	if err := os.Symlink(p.file("src"), p.file("docs/reports/linked")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(p.file("src/hello.txt"), p.file("docs/reports/link.md")); err != nil {
		t.Fatal(err)
	}
	c := p.executor("--drill")
	c.locks(c.call("drill", args{"kind": "invariant"}), "INVARIANT_VIOLATION", plan)
	creates := "--- /dev/null\n+++ b/docs/reports/patched.md\n@@ -0,0 +1 @@\n+a report\n"
	tricks := []struct {
		tool string
		in   args
	}{
		{"write_file", args{"path": "docs/reports/empty.md", "content": ""}},
		{"write_file", args{"path": "docs/reports/blank.md", "content": " \t\r\n\u00a0\u2003\n"}},
		{"write_file", args{"path": "docs/reports/unseen.md", "content": "\u200b\x00\u2060"}},
		{"write_file", args{"path": "docs/reports/dots.md", "content": "..."}},
		{"write_file", args{"path": "docs/reports/none.md"}},
		{"write_file", args{"path": "docs/reports/old.md", "content": "a report"}},
		{"write_file", args{"path": "docs/reports/old.md", "content": "a report", "previous_hash": hashOf("x")}},
		{"write_file", args{"path": "docs/reports/old.md", "content": "old\n", "previous_hash": hashOf("old\n")}}, // it was there before
		{"write_file", args{"path": "docs/reports/old.md", "patch": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+\n"}},
		{"write_file", args{"path": "docs/reports/none/../../../src/a.md", "content": "a report"}},
		{"write_file", args{"path": "docs/reports/../reported.md", "content": "a report"}},
		{"write_file", args{"path": "docs/reports/linked/a.md", "content": "a report"}},
		{"write_file", args{"path": "docs/reports/link.md", "content": "a report", "previous_hash": hashOf("hello\nworld\n")}},
		{"write_file", args{"path": "docs/reports", "content": "a report"}},
		{"write_file", args{"path": "docs/reports/", "content": "a report"}},
		{"write_file", args{"path": "docs/reports/.", "content": "a report"}},
		{"write_file", args{"path": "docs/reports-not/a.md", "content": "a report", "make_dirs": true}},
		{"write_file", args{"path": "Docs/Reports/a.md", "content": "a report", "make_dirs": true}},
		{"write_file", args{"path": "src/docs/reports/a.md", "content": "a report", "make_dirs": true, "plan_hash": plan}},
		{"write_file", args{"path": "docs\\reports\\a.md", "content": "a report"}},
		{"write_file", args{"path": "docs/reports/a\x00.md", "content": "a report"}},
		{"write_file", args{"path": "/docs/reports/a.md", "content": "a report"}},
		{"write_file", args{"path": p.root + "/docs/reports/a.md", "content": "a report"}},
		{"write_file", args{"path": "docs/reports/a.md", "content": "a report", "role": "ANTIGRAVITY"}},
		{"write_file", args{"path": []string{"docs/reports/a.md"}, "content": "a report"}},
		{"apply_patch", args{"patch": creates, "plan_hash": plan}},
		{"read_file", args{"path": "docs/reports/old.md"}},
	}
	for _, trick := range tricks {
		a := c.call(trick.tool, trick.in)
		if a.code() == "" && trick.tool != "read_file" {
			t.Errorf("%v was accepted", trick.in)
		}
		if c.lockedBy() == "" {
			t.Fatalf("%v has lifted the lock", trick.in)
		}
	}
	if got, _ := p.read("src/hello.txt"); got != "hello\nworld\n" {
		t.Errorf("a report was written through a link: %q", got)
	}
	c.report("deep/in/the/folder.md")
	for _, beside := range []string{"docs/reports-not/a.md", "Docs/Reports/a.md", "docs/reports"} { // nor are these reports in an unlocked session
		c.call("write_file", args{"path": beside, "content": "a report", "make_dirs": true}).is("MISSING_REQUIRED_FIELD")
	}
}

// TestK11ALockOutlivesTheServer kills the server as soon as the answer is received.
func TestK11ALockOutlivesTheServer(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	write := args{"path": "src/a.txt", "content": "x", "plan_hash": plan}
	c := p.executor("--drill")
	broken := c.call("drill", args{"kind": "invariant"})
	broken.is("INVARIANT_VIOLATION")
	c.Kill()
	for range 2 { // new sessions inherit the lock
		c = p.executor("--drill")
		c.locks(broken, "INVARIANT_VIOLATION", plan)
		c.Kill()
	}
	planner := p.start()
	planner.begin("ANTIGRAVITY")
	if by := planner.lockedBy(); by != "" {
		t.Errorf("the other role is locked by %s", by)
	}
	planner.submit(planText("other/**"))
	planner.stop()
	c = p.executor()
	c.report("one.md")
	c.call("write_file", write).fine()
	c.Kill()
	c = p.executor()
	if by := c.lockedBy(); by != "" {
		t.Errorf("a lock that was lifted is back: %s", by)
	}
	c.stop()
	p.verify()
}

// TestK11SecondSessionInheritsTheLock begins a session beside the locked one, and continues with it after a
// restart.
func TestK11SecondSessionInheritsTheLock(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	w := p.listen("--drill")
	first, before, planner := w.stateless(), w.stateless(), w.stateful()
	first.begin("WINDSURF")
	before.begin("WINDSURF")
	broken := first.call("drill", args{"kind": "invariant"})
	first.locks(broken, "INVARIANT_VIOLATION", plan)
	if by := before.lockedBy(); by != "" {
		t.Errorf("a session that was at work before is locked by %s", by)
	}
	second := w.stateless()
	second.begin("WINDSURF")
	second.locks(broken, "INVARIANT_VIOLATION", plan)
	third := w.stateful()
	third.begin("WINDSURF")
	third.locks(broken, "INVARIANT_VIOLATION", plan)
	planner.begin("ANTIGRAVITY")
	if by := planner.lockedBy(); by != "" {
		t.Errorf("the other role is locked by %s", by)
	}
	w.kill()
	w = p.listen("--drill")
	for _, c := range []*client{first, second} { // both continue with their sessions
		c.ask = w.stateless().ask
		c.locks(broken, "INVARIANT_VIOLATION", plan)
	}
	second.report("one.md")
	w.kill()
	w = p.listen("--drill")
	for _, c := range []*client{first, second} {
		c.ask = w.stateless().ask
		if by := c.lockedBy(); by != "" {
			t.Errorf("the report was written, and a session is locked by %s", by)
		}
	}
}

func TestK11RecoveryWorksEndToEnd(t *testing.T) {
	overEveryTransport(t, func(t *testing.T, p *env, dial func() *client) {
		plan := p.approved("src/**")
		c := dial()
		c.begin("WINDSURF")
		c.call("read_file", args{"path": "src/none"}).is("FILE_NOT_FOUND")
		c.locks(c.call("write_file", args{"path": "outside.txt", "content": "x", "plan_hash": plan}), "PLAN_SCOPE_VIOLATION", plan)
		c.call("read_file", args{"path": "src/hello.txt"}).fine()
		c.call("read_audit_log", args{"code": "PLAN_SCOPE_VIOLATION"}).fine()
		c.call("apply_patch", args{"patch": "x", "plan_hash": plan}).is("SESSION_LOCKED")
		c.report("one.md")
		c.call("write_file", args{"path": "src/new.txt", "content": "new\n", "plan_hash": plan}).fine()
		if got, _ := p.read("src/new.txt"); got != "new\n" {
			t.Errorf("the file holds %q", got)
		}
		if got, _ := p.read("docs/reports/one.md"); got != "What went wrong, and why." {
			t.Errorf("the report holds %q", got)
		}
		c.stop()
		p.verify()
	})
}
