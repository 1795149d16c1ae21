package kaiza_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/ledger"
)

// TestASessionOfAnotherRootIsNotServed restarts the server with another root: an earlier session must not give access to
// its old workspace.
func TestASessionOfAnotherRootIsNotServed(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	w := p.listen()
	c := w.stateless()
	c.begin("WINDSURF")
	c.call("read_file", args{"path": "src/hello.txt"}).fine()
	w.kill()
	old := p.root
	p.root = filepath.Join(filepath.Dir(old), "another")
	if err := os.Mkdir(p.root, 0o700); err != nil {
		t.Fatal(err)
	}
	w = p.listen()
	c.ask = w.stateless().ask
	c.call("read_file", args{"path": "src/hello.txt"}).is("BOOTSTRAP_FAILURE")
	c.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan}).is("BOOTSTRAP_FAILURE")
	c.call("read_audit_log", args{}).is("BOOTSTRAP_FAILURE")
	if _, there := p.read("src/a.txt"); there {
		t.Error("a file outside the root was written")
	}
}

// TestARaceForTheWorkspaceEndsInsideTheRoot swaps the link through which a session is begun.
func TestARaceForTheWorkspaceEndsInsideTheRoot(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	outside := filepath.Join(filepath.Dir(p.root), "outside")
	if err := os.MkdirAll(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	link, next := filepath.Join(p.root, "link"), filepath.Join(p.root, "next")
	end := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-end:
				return
			default:
			}
			_ = os.Symlink([]string{p.work, outside}[i%2], next)
			_ = os.Rename(next, link)
		}
	})
	w := p.listen()
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			c := w.stateless()
			for range 40 {
				a := c.call("begin_session", args{"workspace_root": link, "role": "WINDSURF"})
				if root := a.text("structuredContent", "workspace_root"); root != "" && root != p.work {
					t.Errorf("a session was begun in %s", root)
				}
			}
		})
	}
	asking.Wait()
	close(end)
	swapping.Wait()
}

// TestReadAuditLogHidesOtherSessionIDs reads the trail in one role and tries to use the ids it finds in the other.
func TestReadAuditLogHidesOtherSessionIDs(t *testing.T) {
	overEveryTransport(t, func(t *testing.T, p *env, dial func() *client) {
		plan := p.approved("src/**")
		executor := dial()
		id := executor.begin("WINDSURF")
		executor.call("read_file", args{"path": "src/hello.txt"}).fine()
		planner := dial()
		own := planner.begin("ANTIGRAVITY")
		log := planner.call("read_audit_log", args{"last": 500})
		log.fine()
		if strings.Contains(string(log.m.Bytes()), id) {
			t.Error("the trail tells a session the name of another, which is all that it takes to be it")
		}
		if !strings.Contains(string(log.m.Bytes()), own) {
			t.Error("the trail does not tell a session which entries are its own")
		}
		if planner.session == "" { // the connection is bound to its session
			a := planner.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan, "session_id": id})
			if code := a.code(); code == "" {
				t.Error("a planner has written as an executor")
			}
			planner.call("session_status", args{"session_id": own}).fine()
		}
		if _, there := p.read("src/a.txt"); there {
			t.Error("a planner has written")
		}
	})
}

// TestCallWithTwoSessionsIsRefused checks that a call that names two sessions is refused as ambiguous.
func TestCallWithTwoSessionsIsRefused(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	w := p.listen()
	one, other := w.stateful(), w.stateful()
	first, second := one.begin("WINDSURF"), other.begin("ANTIGRAVITY")
	for _, connection := range []*client{one, w.stateful()} {
		a := answer{t, connection.ask("tools/call", fmt.Sprintf(`{"name":"session_status","arguments":{"session_id":%q},"_meta":{"dev.candor/session":%q}}`, first, second))}
		if a.code() == "" {
			t.Errorf("a call that names two sessions was served: %s", a.m.Bytes())
		}
	}
	one.call("session_status", args{"session_id": first}).fine()
}

// TestALockHoldsInEveryServer uses one session through two servers that share the state.
func TestALockHoldsInEveryServer(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	here, there := p.listen("--drill"), p.listen("--drill")
	c := here.stateless()
	c.begin("WINDSURF")
	other := there.stateless()
	other.session = c.session
	if by := other.lockedBy(); by != "" {
		t.Fatalf("locked by %s", by)
	}
	c.locks(c.call("drill", args{"kind": "invariant"}), "INVARIANT_VIOLATION", plan)
	if by := other.lockedBy(); by != "INVARIANT_VIOLATION" {
		t.Errorf("through the other server it is locked by %q", by)
	}
	other.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan}).is("SESSION_LOCKED")
	other.report("one.md")
	other.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan}).fine()
}

// TestAReportThatWasThereBeforeUnlocksNothing writes a report with unchanged content.
func TestAReportThatWasThereBeforeUnlocksNothing(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	p.write("docs/reports/old.md", "An old report.\n")
	c := p.executor("--drill")
	c.call("drill", args{"kind": "invariant"}).is("INVARIANT_VIOLATION")
	again := args{"path": "docs/reports/old.md", "content": "An old report.\n", "previous_hash": hashOf("An old report.\n")}
	c.call("write_file", again).is("INVALID_INPUT_VALUE")
	if c.lockedBy() == "" {
		t.Error("an old report has lifted the lock")
	}
	again["content"] = "An old report, and what happened now.\n"
	c.call("write_file", again).fine()
	if by := c.lockedBy(); by != "" {
		t.Errorf("after the report the session is locked by %s", by)
	}
}

// TestTheTrailOfAnotherWorkspaceStaysThere reads the trail in two workspaces of one server.
func TestTheTrailOfAnotherWorkspaceStaysThere(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	for _, name := range []string{"work2", "work/inner"} {
		if err := os.MkdirAll(filepath.Join(p.root, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w := p.listen()
	c := w.stateless()
	c.begin("WINDSURF")
	c.call("read_file", args{"path": "planted-word.txt"}).is("FILE_NOT_FOUND")
	for _, name := range []string{"work2", "work/inner", ""} {
		other := w.stateless()
		a := other.call("begin_session", args{"workspace_root": filepath.Join(p.root, name), "role": "ANTIGRAVITY"})
		a.fine()
		other.session = a.text("structuredContent", "session_id")
		for _, in := range []args{{"last": 500}, {"tool": "read_file"}, {"code": "FILE_NOT_FOUND"}} {
			log := other.call("read_audit_log", in)
			log.fine()
			if text := string(log.m.Bytes()); strings.Contains(text, "planted-word") || strings.Contains(text, c.session) {
				t.Errorf("%q sees %s", name, text)
			}
		}
	}
	mine := c.call("read_audit_log", args{"tool": "read_file"})
	if !strings.Contains(string(mine.m.Bytes()), "planted-word") {
		t.Errorf("one's own workspace is not shown: %s", mine.m.Bytes())
	}
}

// TestNoPlanApprovesItself tries to write files that only a person may write.
func TestNoPlanApprovesItself(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	wide := p.approved("src/**", "docs/**", `"**"`)
	planner := p.start()
	planner.begin("ANTIGRAVITY")
	text := planText("secret/**")
	hash := planner.submit(text)
	planner.stop()
	stored, _ := p.read("docs/plans/" + hash + ".md")
	forged := strings.Replace(stored, "STATUS: PROPOSED", "STATUS: APPROVED", 1)
	if forged == stored {
		t.Fatalf("the header is %q", stored)
	}
	write := args{"path": "secret/a.txt", "content": "x", "plan_hash": hash, "make_dirs": true}
	patch := "--- a/docs/plans/" + hash + ".md\n+++ b/docs/plans/" + hash + ".md\n@@ -1,2 +1,2 @@\n-" + firstLine(stored) + "+" + firstLine(forged) + " ---\n"
	for i, try := range []args{
		{"path": "docs/plans/" + hash + ".md", "content": forged, "previous_hash": hashOf(stored), "plan_hash": wide},
		{"path": "docs/plans/" + hashOf("x") + ".md", "content": forged, "plan_hash": wide},
		{"path": "Docs/Plans/" + hash + ".md", "content": forged, "plan_hash": wide, "make_dirs": true},
		{"patch": patch, "plan_hash": wide},
		nil, // the file is changed without the server
		{"path": "alias/" + hash + ".md", "content": forged, "previous_hash": hashOf(stored), "plan_hash": wide},
	} {
		c := p.executor()
		switch {
		case try == nil:
			p.write("docs/plans/"+hash+".md", forged)
		case try["patch"] != nil:
			c.call("apply_patch", try).is("PLAN_SCOPE_VIOLATION")
		case i == 5:
			if err := os.Symlink("docs/plans", p.file("alias")); err != nil {
				t.Fatal(err)
			}
			c.call("write_file", try).is("INSUFFICIENT_PERMISSIONS")
		default:
			c.call("write_file", try).is("PLAN_SCOPE_VIOLATION")
		}
		if c.lockedBy() != "" {
			c.report(fmt.Sprintf("plan-%d.md", i))
		}
		c.call("write_file", write).is("PLAN_NOT_APPROVED")
		p.write("docs/plans/"+hash+".md", stored)
		c.stop()
	}
	if _, there := p.read("secret/a.txt"); there {
		t.Error("a plan that nobody approved was carried out")
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line + "\n"
}

// TestAmbiguousHashPrefixIsRefused finds two plans whose hashes share a prefix: approving or using the prefix must fail.
func TestAmbiguousHashPrefixIsRefused(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	seen := map[string]string{}
	var one, other string
	for i := 0; one == ""; i++ {
		text := planText("src/**") + fmt.Sprint(i, "\n")
		start := hashOf(text)[:8]
		if seen[start] != "" {
			one, other = seen[start], text
		}
		seen[start] = text
	}
	planner := p.start()
	planner.begin("ANTIGRAVITY")
	first, second := planner.submit(one), planner.submit(other)
	start := first[:8]
	if second[:8] != start || first == second {
		t.Fatalf("%s and %s", first, second)
	}
	planner.call("read_plan", args{"plan_hash": start}).is("INVALID_INPUT_VALUE")
	planner.stop()
	if out, code := p.candor("workbench", "approve", start, "--root", p.work, "--state", p.state, "--yes"); code != 2 {
		t.Errorf("approving the beginning of two hashes: %d %s", code, out)
	}
	p.approve(first)
	c := p.executor()
	write := args{"path": "src/a.txt", "content": "x", "plan_hash": start}
	c.call("write_file", write).is("INVALID_INPUT_VALUE")
	write["plan_hash"] = second
	c.call("write_file", write).is("PLAN_NOT_APPROVED")
	write["plan_hash"] = first
	c.call("write_file", write).fine()
}

// TestAPlanBehindAThousandOthersIsFound checks that flooding the folder does not hide a plan from the approver.
func TestAPlanBehindAThousandOthersIsFound(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	for i := range 1001 {
		p.write(fmt.Sprintf("docs/plans/%064d.md", i), "flood")
	}
	c := p.start()
	c.begin("ANTIGRAVITY")
	hash := c.submit(planText("src/**"))
	c.call("read_plan", args{"plan_hash": hash[:8]}).fine()
	if out, code := p.candor("workbench", "approve", hash[:8], "--root", p.work, "--state", p.state, "--yes"); code != 0 {
		t.Errorf("approving it: %d %s", code, out)
	}
	if out, code := p.candor("workbench", "plans", "--root", p.work, "--state", p.state); code != 0 || !strings.Contains(out, "2 more are not listed") {
		t.Errorf("who lists them is not told that there are more: %d %.300s", code, out)
	}
}

// TestReachableStateFolderRefusesEveryCall puts the state folder where a plan could allow changing it.
func TestReachableStateFolderRefusesEveryCall(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	p.state = filepath.Join(p.work, "state")
	s := p.start()
	s.call("begin_session", args{"workspace_root": p.work, "role": "WINDSURF"}).is("SELF_AUDIT_FAILURE")
	s.stop()
	elsewhere := filepath.Join(filepath.Dir(p.root), "link")
	if err := os.Symlink(p.state, elsewhere); err != nil {
		t.Fatal(err)
	}
	p.state = elsewhere // another name of the same folder
	s = p.start()
	s.call("begin_session", args{"workspace_root": p.work, "role": "WINDSURF"}).is("SELF_AUDIT_FAILURE")
}

// TestManySessionsDoNotEndThoseOfOthers begins more sessions than are kept in memory. All can continue: the session of a
// connection, a named one, and a locked one.
func TestManySessionsDoNotEndThoseOfOthers(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	w := p.listen("--drill")
	bound, named, locked := w.stateful(), w.stateless(), w.stateless()
	id := bound.begin("WINDSURF")
	named.begin("ANTIGRAVITY")
	locked.begin("WINDSURF")
	broken := locked.call("drill", args{"kind": "invariant"})
	flood := w.stateless()
	for range 300 {
		flood.call("begin_session", args{"workspace_root": p.work, "role": "ANTIGRAVITY"}).fine()
	}
	bound.call("read_file", args{"path": "src/none"}).belongs(id, "WINDSURF", p.work)
	named.call("read_file", args{"path": "src/hello.txt"}).fine()
	locked.locks(broken, "INVARIANT_VIOLATION", plan)
}

// TestReplyDescribesWhatTheChecksLeft has a check rewrite the written file, like a formatter, or like an agent that
// tries to bypass the policy with code that a check runs.
func TestReplyDescribesWhatTheChecksLeft(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	const old = "hello\nworld\n"
	write := args{"path": "src/hello.txt", "content": "moon\n", "previous_hash": hashOf(old), "plan_hash": plan}
	for script, code := range map[string]string{
		"echo formatted > src/hello.txt":                 "",
		"echo FORBIDDEN >> src/hello.txt":                "POLICY_VIOLATION",
		"echo worse > src/hello.txt; exit 1":             "PREFLIGHT_FAILED",
		"rm src/hello.txt; exit 1":                       "PREFLIGHT_FAILED",
		"rm src/hello.txt":                               "PREFLIGHT_FAILED",
		"printf '%b' 'hello\\nworld\\n' > src/hello.txt": "", // unchanged
	} {
		p.write("src/hello.txt", old)
		quoted, _ := json.Marshal(script)
		s := p.executor("--policy", p.policyFile("rules:\n  - id: NO\n    pattern: FORBIDDEN\n    message: No.\npreflight:\n  - name: check\n    run: [sh, -c, "+string(quoted)+"]\n"))
		a := s.call("write_file", write)
		a.is(code)
		got, _ := p.read("src/hello.txt")
		if told := a.text("structuredContent", "files", 0, "after"); code == "" && told != hashOf(got) {
			t.Errorf("%s: the file holds %q and the answer says %s", script, got, told)
		}
		if code != "" && got != old {
			t.Errorf("%s: the file holds %q", script, got)
		}
		s.unlocked(hashOf(script) + ".md")
		s.stop()
	}
	if kept, _ := filepath.Glob(filepath.Join(p.state, "workspaces", "*", "changes", "*.found-0", "0.found")); len(kept) != 2 {
		t.Errorf("what was overwritten is kept in %v", kept)
	}
	for _, e := range p.completions() {
		if e.Outcome == ledger.OutcomeOK && strings.Contains(string(e.Data), hashOf("moon\n")) {
			t.Errorf("the trail says what was not so: %s", e.Data)
		}
	}
}

// TestAnArgumentThatFitsTheSchemaIsUnderstood checks unusual notations that pass the schema; an argument that is still
// refused is named.
func TestAnArgumentThatFitsTheSchemaIsUnderstood(t *testing.T) {
	t.Parallel()
	c := newEnv(t).executor()
	for tool, in := range map[string]string{
		"read_audit_log": `{"last":5.0}`, "read_file": `{"path":"src/hello.txt","line":1e0,"lines":20e-1}`, "list_dir": `{"path":".","depth":2.0}`,
		"search_files": `{"pattern":"x","max_matches":1e2}`,
	} {
		c.call(tool, json.RawMessage(in)).fine()
	}
	c.call("read_file", json.RawMessage(`{"path":"src/hello.txt","line":1e30}`)).fine() // empty beyond the end of the file
	c.call("read_audit_log", args{"since": "2026-01-02T03:04:05.5+01:00"}).fine()
	a := c.call("read_audit_log", args{"since": "2026-13-45T99:99:99Z"})
	a.is("INVALID_INPUT_VALUE")
	if !strings.Contains(a.text("content", 0, "text"), "since") {
		t.Errorf("the argument is not named: %s", a.m.Bytes())
	}
	empty := c.call("write_file", args{"path": "docs/reports/a.md", "content": " "})
	if said, _ := empty.system().Path("human_message").Str(); !strings.Contains(said, "a report must say something") {
		t.Errorf("who writes an empty report is told %q", said)
	}
}

// TestGuessedSessionIsRefused tries invalid session ids and names of files.
func TestGuessedSessionIsRefused(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	w := p.listen()
	real := w.stateless()
	id := real.begin("WINDSURF")
	for _, guess := range []string{"00000000-0000-4000-8000-000000000000", strings.ToUpper(id), id[:35], id + "0", " " + id, id + ".json", "../sessions/" + id,
		"../version", "*", "%2e%2e", "null", "stdio", "http:" + id, strings.Repeat("a", 64)} {
		c := w.stateless()
		c.session = guess
		a := c.call("read_file", args{"path": "src/hello.txt"})
		a.is("SESSION_NOT_INITIALIZED")
		meta, _ := json.Marshal(guess)
		named := answer{t, w.stateful().ask("tools/call", `{"name":"read_file","arguments":{"path":"src/hello.txt"},"_meta":{"dev.candor/session":`+string(meta)+`}}`)}
		named.is("SESSION_NOT_INITIALIZED")
	}
	real.call("read_file", args{"path": "src/hello.txt"}).fine()
}

// TestReportsAreNotExecutable tries to write code to the reports folder without a plan.
func TestReportsAreNotExecutable(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	s := p.executor()
	for _, name := range []string{"docs/reports/x_test.go", "docs/reports/build.rs", "docs/reports/run", "docs/reports/.md/x.sh"} {
		s.call("write_file", args{"path": name, "content": "package x\n", "make_dirs": true}).is("MISSING_REQUIRED_FIELD")
		if _, there := p.read(name); there {
			t.Errorf("%s was written", name)
		}
	}
	s.call("write_file", args{"path": "docs/reports/why.md", "content": "Because."}).fine()
}

// TestFailingChangesDoNotFillTheDisk has a check rewrite and refuse many changes: the rewritten files are kept up to a
// limit.
func TestFailingChangesDoNotFillTheDisk(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	s := p.executor("--policy", p.policyFile("preflight:\n  - name: check\n    run: [sh, -c, 'echo more >> src/new.txt; exit 1']\n"))
	for range 55 {
		s.call("write_file", args{"path": "src/new.txt", "content": "moon\n", "plan_hash": plan}).is("PREFLIGHT_FAILED")
	}
	if kept, _ := filepath.Glob(filepath.Join(p.state, "workspaces", "*", "changes", "*.found-*", "0.found")); len(kept) != 50 {
		t.Errorf("%d of 55 are kept", len(kept))
	}
}
