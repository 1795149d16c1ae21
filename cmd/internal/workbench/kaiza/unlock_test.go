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
			listed, _ := p.unlock(0)
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

// TestUnlockUnreadableLock checks that a damaged lock file locks, is listed with its problem, and can be removed.
func TestUnlockUnreadableLock(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	c := p.executor()
	c.breakRule(plan)
	p.must(os.WriteFile(p.lockFiles()[0], []byte("{"), 0o600))
	listed, out := p.unlock(0)
	if len(listed.Locked) != 1 || listed.Locked[0].Problem == "" || c.lockedBy() == "" {
		t.Fatalf("listed are %s", out)
	}
	p.unlock(0, listed.Locked[0].Session, "--yes")
	if by := c.lockedBy(); by != "" || len(p.lockFiles()) != 0 {
		t.Errorf("it is locked by %q, left are %v", by, p.lockFiles())
	}
}
