package kaiza_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
	"github.com/candor-mcp/candor/ledger"
)

// checks writes a policy whose only check is a shell command and returns its name.
func (p *env) checks(shell string) string {
	quoted, _ := json.Marshal(shell)
	return p.policyFile("builtin: []\npreflight:\n  - name: check\n    run: [sh, -c, " + string(quoted) + "]\n")
}

// atRest checks that no journal exists and that the workspace has this number of files; -1 means any number.
func (p *env) atRest(files int) {
	p.t.Helper()
	journals, err := filepath.Glob(filepath.Join(p.state, "workspaces", "*", "changes", "*"))
	if err != nil || len(journals) > 0 {
		p.t.Errorf("journals are left: %v %v", journals, err)
	}
	found := []string{}
	err = filepath.WalkDir(p.work, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasPrefix(name, p.file("docs")) {
			found = append(found, name)
		}
		return err
	})
	if err != nil || files >= 0 && len(found) != files {
		p.t.Errorf("the workspace holds %v: %v", found, err)
	}
}

// eventually waits until a condition holds.
func (p *env) eventually(what string, so func() bool) {
	p.t.Helper()
	for end := time.Now().Add(servertest.Timeout); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("it never comes to this: %s", what)
		}
	}
}

// TestLockSurvivesRestartAndAReportUnlocks kills the server at each step. The session continues, because the client
// names it.
func TestLockSurvivesRestartAndAReportUnlocks(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	write := func(c *client, name string) answer {
		return c.call("write_file", args{"path": name, "content": "x\n", "plan_hash": plan})
	}
	w := p.listen()
	c := w.stateless()
	c.begin("WINDSURF")
	again := func() {
		w.kill()
		w = p.listen()
		session := c.session
		c = w.stateless()
		c.session = session
	}
	again()
	write(c, "outside.txt").is("PLAN_SCOPE_VIOLATION")
	again()
	locked := write(c, "src/a.txt")
	locked.is("SESSION_LOCKED")
	if by, _ := locked.canonical().Path("details", "locked_by").Str(); by != "PLAN_SCOPE_VIOLATION" {
		t.Errorf("it is locked by %q", by)
	}
	c.call("read_file", args{"path": "src/hello.txt"}).fine()
	c.call("write_file", args{"path": "docs/reports/one.md", "content": "I wrote outside the plan."}).fine()
	again()
	write(c, "src/a.txt").fine()
	p.verify()
}

// TestANewSessionInheritsTheLockOfADeadOne ends the server, and with it the session over stdio, to avoid the report.
func TestANewSessionInheritsTheLockOfADeadOne(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	s := p.executor()
	s.call("write_file", args{"path": "outside.txt", "content": "x", "plan_hash": plan}).is("PLAN_SCOPE_VIOLATION")
	s.Kill()
	next := p.executor()
	next.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan}).is("SESSION_LOCKED")
	next.call("write_file", args{"path": "docs/reports/one.md", "content": "It was the one before me."}).fine()
	next.Kill()
	p.executor().call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan}).fine()
}

// TestAFailingCheckRestoresEveryFile patches, creates and removes files, and has the check record the result and fail.
func TestAFailingCheckRestoresEveryFile(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	seen := filepath.Join(filepath.Dir(p.root), "seen")
	policy := p.checks("cat src/hello.txt src/run.sh made/new.txt > " + seen + "; ls src >> " + seen + "; exit 3")
	p.write("src/run.sh", "echo one\n")
	p.write("src/gone.txt", "still here\n")
	modes := map[string]fs.FileMode{"src/hello.txt": 0o640, "src/run.sh": 0o755, "src/gone.txt": 0o604}
	for name, mode := range modes {
		if err := os.Chmod(p.file(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	plan := p.approved("src/**", "made/**")
	s := p.executor("--policy", policy)
	patch := "--- a/src/hello.txt\n+++ b/src/hello.txt\n@@ -1,2 +1,2 @@\n hello\n-world\n+moon\n" +
		"--- a/src/run.sh\n+++ b/src/run.sh\n@@ -1 +1 @@\n-echo one\n+echo two\n" +
		"--- a/src/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-still here\n" +
		"--- /dev/null\n+++ b/made/new.txt\n@@ -0,0 +1 @@\n+new\n"
	s.call("apply_patch", args{"patch": patch, "plan_hash": plan}).is("PREFLIGHT_FAILED")
	s.call("write_file", args{"path": "src/hello.txt", "content": "x", "previous_hash": hashOf("hello\nworld\n"), "plan_hash": plan}).is("PREFLIGHT_FAILED")
	s.End()
	if data, err := os.ReadFile(seen); err != nil || !strings.HasPrefix(string(data), "x") {
		t.Errorf("the check did not see the file that was written: %v %q", err, data)
	}
	for name, want := range map[string]string{"src/hello.txt": "hello\nworld\n", "src/run.sh": "echo one\n", "src/gone.txt": "still here\n"} {
		info, err := os.Stat(p.file(name))
		if got, _ := p.read(name); err != nil || got != want || info.Mode().Perm() != modes[name] {
			t.Errorf("%s: %v %q %v", name, err, got, info.Mode())
		}
	}
	if _, err := os.Stat(p.file("made")); err == nil {
		t.Error("the folder of the new file is still there")
	}
	p.atRest(3)
	p.verify()
	if ends := p.completions(); len(ends) != 2 || ends[0].Code != "PREFLIGHT_FAILED" || ends[1].Outcome != ledger.OutcomeError {
		t.Errorf("the trail tells %+v", ends)
	}
}

// completions returns the complete entries of file changes.
func (p *env) completions() (ends []ledger.Record) {
	p.t.Helper()
	for _, e := range p.entries() {
		if e.Kind == ledger.KindComplete && (e.Tool == "write_file" || e.Tool == "apply_patch") {
			ends = append(ends, e)
		}
	}
	return ends
}

// TestPassingCheckKeepsTheChange checks that a passing check keeps the change.
func TestPassingCheckKeepsTheChange(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	policy := p.checks("grep -q moon src/hello.txt")
	s := p.executor("--policy", policy)
	s.call("write_file", args{"path": "src/hello.txt", "content": "moon\n", "previous_hash": hashOf("hello\nworld\n"), "plan_hash": p.approved("src/**")}).fine()
	if got, _ := p.read("src/hello.txt"); got != "moon\n" {
		t.Errorf("the file holds %q", got)
	}
	p.atRest(1)
}

// TestStateOfAnotherProgramIsUnderstood adds unknown members to every state file, as a later program of the same version
// may. Only an approval with unknown members is invalid, because they may be conditions; it must be approved again.
func TestStateOfAnotherProgramIsUnderstood(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	w := p.listen()
	c := w.stateless()
	c.begin("WINDSURF")
	c.call("write_file", args{"path": "outside.txt", "content": "x", "plan_hash": plan}).is("PLAN_SCOPE_VIOLATION")
	w.kill()
	changed := map[string]bool{}
	err := filepath.WalkDir(p.state, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".json") || strings.HasPrefix(name, p.ledgerDir()) {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		more := strings.Replace(string(data), "{", `{"later":{"a":[1,2]},`, 1)
		changed[strings.Split(strings.TrimPrefix(name, p.state+"/"), "/")[0]] = true
		return os.WriteFile(name, []byte(more), 0o600)
	})
	if err != nil || !changed["version.json"] || !changed["sessions"] || !changed["workspaces"] || len(changed) < 4 { // and the approvals
		t.Fatalf("changed were %v: %v", changed, err)
	}
	next := p.listen().stateless()
	next.session = c.session
	next.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan}).is("SESSION_LOCKED")
	next.call("write_file", args{"path": "docs/reports/one.md", "content": "I wrote outside the plan."}).fine()
	next.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan}).is("PLAN_NOT_APPROVED")
	p.approve(plan)
	next.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan}).fine()
}

// TestStateOfALaterVersionIsRefused checks that the server refuses to start on a state of a later version.
func TestStateOfALaterVersionIsRefused(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	p.start().End()
	for _, version := range []int{2, 9000} {
		text := fmt.Sprintf(`{"version":%d}`, version)
		if err := os.WriteFile(filepath.Join(p.state, "version.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := p.launch()
		if code := s.End(); code != 2 || !strings.Contains(s.Stderr.String(), fmt.Sprintf("version %d", version)) {
			t.Errorf("it ended with %d and said %s", code, &s.Stderr)
		}
		if data, _ := os.ReadFile(filepath.Join(p.state, "version.json")); string(data) != text {
			t.Errorf("it changed the version to %s", data)
		}
	}
}
