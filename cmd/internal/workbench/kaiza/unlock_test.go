package kaiza_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/ledger"
)

// unlockReport is the output of `candor workbench unlock --json`.
type unlockReport struct {
	Locked   []lockedSession `json:"locked"`
	Unlocked []lockedSession `json:"unlocked"`
	OK       bool            `json:"ok"`
	Code     string          `json:"code"`
}

type lockedSession struct {
	Session string `json:"session"`
	Role    string `json:"role"`
	Code    string `json:"code"`
	Ref     string `json:"ref"`
	At      string `json:"at"`
	Problem string `json:"problem"`
}

// unlock runs the unlock command and checks its exit code.
func (p *env) unlock(want int, more ...string) (report unlockReport, out string) {
	p.t.Helper()
	out, code := p.onWork("unlock", append(more, "--json")...)
	line, _, _ := strings.Cut(out, "\n")
	if err := json.Unmarshal([]byte(line), &report); err != nil && want == 0 || code != want {
		p.t.Fatalf("unlock %v: %d, want %d: %v\n%s", more, code, want, err, out)
	}
	return report, out
}

// lockFiles returns the files of all locks.
func (p *env) lockFiles() []string {
	p.t.Helper()
	names, err := filepath.Glob(filepath.Join(p.state, "workspaces", "*", "locks", "*"))
	p.must(err)
	return names
}

// breakRule locks the session of a client and returns the reference of the failure.
func (c *client) breakRule(plan string) string {
	c.t.Helper()
	a := c.call("write_file", args{"path": "outside.txt", "content": "x", "plan_hash": plan})
	a.is("PLAN_SCOPE_VIOLATION")
	return a.ref()
}

// TestUnlockFreesASessionOfARunningServer unlocks while the server runs: the next call may change files, and the next
// broken rule locks again.
func TestUnlockFreesASessionOfARunningServer(t *testing.T) {
	overEveryTransport(t, func(t *testing.T, p *env, dial func() *client) {
		plan := p.approved("src/**")
		c := dial()
		id := c.begin("WINDSURF")
		for _, name := range []string{"src/one.txt", "src/two.txt"} {
			ref := c.breakRule(plan)
			write := args{"path": name, "content": "x", "plan_hash": plan}
			refused := c.call("write_file", write)
			refused.is("SESSION_LOCKED")
			if said, _ := refused.canonical().Path("suggestion").Str(); !strings.Contains(said, "candor workbench unlock") {
				t.Errorf("SESSION_LOCKED suggests %q", said)
			}
			listed, _ := p.unlock(0, "--list")
			if len(listed.Locked) != 1 || listed.Locked[0] != (lockedSession{id, "WINDSURF", "PLAN_SCOPE_VIOLATION", ref, listed.Locked[0].At, ""}) || listed.Locked[0].At == "" {
				t.Fatalf("listed are %+v", listed)
			}
			if by := c.lockedBy(); by == "" {
				t.Fatal("a list has unlocked the session")
			}
			report, _ := p.unlock(0, id[:8], "--yes", "--by", "tester", "--reason", "the rule is too strict")
			if !report.OK || len(report.Unlocked) != 1 || report.Unlocked[0].Session != id || len(report.Locked) != 0 || len(p.lockFiles()) != 0 {
				t.Errorf("unlocked is %+v, left are %v", report, p.lockFiles())
			}
			c.call("write_file", write).fine()
			if by := c.lockedBy(); by != "" {
				t.Errorf("the session is locked by %s", by)
			}
			p.recordsUnlock(id, ref)
		}
		c.stop()
		p.verify()
	})
}

// recordsUnlock checks that the trail has the two entries of an unlock.
func (p *env) recordsUnlock(session, ref string) {
	p.t.Helper()
	reserved, completed := 0, 0
	for _, e := range p.entries() {
		if e.Tool != "workbench unlock" || e.SessionID != session || !strings.Contains(string(e.Data), ref) {
			continue
		}
		for _, part := range []string{"tester", "the rule is too strict", "PLAN_SCOPE_VIOLATION"} {
			if !strings.Contains(string(e.Data), part) || e.Role != "OPERATOR" {
				p.t.Errorf("the entry lacks %q: %s %s", part, e.Role, e.Data)
			}
		}
		switch {
		case e.Kind == ledger.KindReserve:
			reserved++
		case e.Kind == ledger.KindComplete && e.Outcome == ledger.OutcomeOK:
			completed++
		}
	}
	if reserved != 1 || completed != 1 {
		p.t.Errorf("the trail has %d reservations and %d ends of the unlock", reserved, completed)
	}
}

// TestUnlockWithoutReport locks a session of a read-only server, on which a report cannot be written.
func TestUnlockWithoutReport(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	c := p.executor("--drill", "--access", "readonly")
	c.call("drill", args{"kind": "invariant"}).is("INVARIANT_VIOLATION")
	if code := c.call("write_file", args{"path": "docs/reports/a.md", "content": "a report"}).code(); code == "" || c.lockedBy() == "" {
		t.Fatalf("a report unlocked the session: %q", code)
	}
	if report, _ := p.unlock(0, "--yes"); len(report.Unlocked) != 1 || report.Unlocked[0].Code != "INVARIANT_VIOLATION" {
		t.Errorf("unlocked is %+v", report)
	}
	if by := c.lockedBy(); by != "" {
		t.Errorf("the session is locked by %s", by)
	}
}

// TestUnlockOfSeveralSessions checks that each lock is removed separately, and that a session with inherited locks is
// unlocked after the last of them.
func TestUnlockOfSeveralSessions(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	first, second := p.executor(), p.executor()
	first.breakRule(plan)
	second.breakRule(plan)
	later := p.executor()
	if out, code := p.onWork("unlock"); code != 0 || !strings.Contains(out, "To unlock one") || len(p.lockFiles()) != 2 {
		t.Errorf("several without a name: %d %s", code, out)
	}
	if report, out := p.unlock(2, "--yes"); report.Code != "INVALID_INPUT_VALUE" || len(report.Locked) != 2 || len(p.lockFiles()) != 2 {
		t.Errorf("several without a name: %s", out)
	}
	listed, _ := p.unlock(0, "--list")
	p.unlock(0, listed.Locked[0].Session, "--yes")
	if first.lockedBy() != "" || second.lockedBy() == "" || later.lockedBy() == "" {
		t.Error("other sessions than the named one were unlocked, or fewer")
	}
	first.breakRule(plan)
	if report, _ := p.unlock(0, "--all", "--yes"); len(report.Unlocked) != 2 || len(report.Locked) != 0 {
		t.Errorf("all: %+v", report)
	}
	for _, c := range []*stdio{first, second, later, p.executor()} {
		if by := c.lockedBy(); by != "" {
			t.Errorf("a session is locked by %s", by)
		}
	}
}

func TestUnlockRefusals(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	if out, code := p.onWork("unlock", "--yes"); code != 0 || !strings.Contains(out, "No session of this workspace is locked") {
		t.Errorf("nothing locked: %d %s", code, out)
	}
	if report, out := p.unlock(0, "--yes"); !report.OK || report.Locked == nil || report.Unlocked == nil {
		t.Errorf("nothing locked: %s", out)
	}
	if report, out := p.unlock(2, "0123abcd", "--yes"); report.Code != "INVALID_INPUT_VALUE" || !strings.Contains(out, "unlock --list") {
		t.Errorf("no such session: %s", out)
	}
	c := p.executor()
	c.breakRule(plan)
	for name, more := range map[string][]string{
		"no such session":     {"0123abcd", "--yes"},
		"a longer id":         {"0" + p.lockedID(), "--yes"},
		"no terminal":         {},
		"no terminal, named":  {p.lockedID()},
		"name and all":        {p.lockedID(), "--all", "--yes"},
		"a control character": {"--yes", "--reason", "a\x1b[2Jb"},
		"a long reason":       {"--yes", "--reason", strings.Repeat("a", 2000)},
		"another name":        {"--yes", "--by", "a\nb"},
	} {
		out, code := p.onWork("unlock", more...)
		if code != 2 || len(p.lockFiles()) != 1 || c.lockedBy() == "" {
			t.Errorf("%s: %d %s", name, code, out)
		}
		if strings.HasPrefix(name, "no terminal") && (!strings.Contains(out, "not a terminal") || !strings.Contains(out, "--yes")) {
			t.Errorf("%s: %s", name, out)
		}
	}
	other := filepath.Join(p.root, "other")
	p.must(os.Mkdir(other, 0o700))
	if out, code := p.candor("workbench", "unlock", "--root", other, "--state", p.state, "--yes"); code != 0 || !strings.Contains(out, "No session") || c.lockedBy() == "" {
		t.Errorf("another workspace: %d %s", code, out)
	}
}

// lockedID returns the id of the only locked session.
func (p *env) lockedID() string {
	p.t.Helper()
	report, _ := p.unlock(0, "--list")
	if len(report.Locked) != 1 {
		p.t.Fatalf("%+v", report)
	}
	return report.Locked[0].Session
}

// TestUnlockUnreadableLock checks that a damaged lock file locks, is listed with its problem, and can be removed; a
// folder of locks that cannot be read is an error.
func TestUnlockUnreadableLock(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(p *env, file string){
		"no JSON": func(p *env, file string) { p.must(os.WriteFile(file, []byte("{"), 0o600)) },
		"a folder": func(p *env, file string) {
			p.must(os.Remove(file))
			p.must(os.MkdirAll(filepath.Join(file, "deep"), 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			plan := p.approved("src/**")
			c := p.executor()
			c.breakRule(plan)
			harm(p, p.lockFiles()[0])
			listed, out := p.unlock(0, "--list")
			if len(listed.Locked) != 1 || listed.Locked[0].Problem == "" {
				t.Errorf("listed are %s", out)
			}
			if text, code := p.onWork("unlock", "--list"); code != 0 || !strings.Contains(text, listed.Locked[0].Session[:8]) {
				t.Errorf("%d %s", code, text)
			}
			p.unlock(0, "--yes")
			if by := c.lockedBy(); by != "" || len(p.lockFiles()) != 0 {
				t.Errorf("it is locked by %q, left are %v", by, p.lockFiles())
			}
			p.executor().call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan}).fine()
		})
	}
	t.Run("no folder of locks", func(t *testing.T) {
		t.Parallel()
		p := newEnv(t)
		plan := p.approved("src/**")
		c := p.executor()
		c.breakRule(plan)
		c.stop()
		locks := filepath.Dir(p.lockFiles()[0])
		p.must(os.RemoveAll(locks))
		p.must(os.WriteFile(locks, nil, 0o600))
		if report, out := p.unlock(2, "--yes"); report.Code != "FILE_READ_FAILED" || report.OK {
			t.Errorf("%s", out)
		}
		p.must(os.RemoveAll(p.state))
		p.must(os.WriteFile(p.state, nil, 0o600))
		if out, code := p.onWork("unlock", "--list"); code != 2 {
			t.Errorf("a state folder that is a file: %d %s", code, out)
		}
	})
}

// TestAccessFlagIgnoresCase checks that a value in another case restricts the server as well.
func TestAccessFlagIgnoresCase(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	p.executor("--access", "ReadOnly").call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan}).is("INSUFFICIENT_PERMISSIONS")
}
