package kaiza_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// approveWith approves a plan with limits.
func (p *env) approveWith(hash string, flags ...string) string {
	p.t.Helper()
	out, code := p.onWork("approve", append([]string{hash, "--yes", "--by", "tester"}, flags...)...)
	if code != 0 {
		p.t.Fatalf("approving: %d %s", code, out)
	}
	return out
}

// refusedFor checks for PLAN_NOT_APPROVED with a reason and the command to run.
func (a answer) refusedFor(reason string) {
	a.t.Helper()
	a.is("PLAN_NOT_APPROVED")
	if got, _ := a.canonical().Path("details", "reason").Str(); got != reason {
		a.t.Errorf("the reason is %q", got)
	}
	if next, _ := a.canonical().Path("suggestion").Str(); !strings.Contains(next, "candor workbench approve") {
		a.t.Errorf("it suggests %q", next)
	}
}

// TestAnApprovalForOneUse allows one change. A change that is refused or fails does not count, and approving again
// resets the count.
func TestAnApprovalForOneUse(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	if out := p.approveWith(plan, "--uses", "1"); !strings.Contains(out, "for 1 of 1 changes") {
		t.Errorf("it says %s", out)
	}
	s := p.executor("--policy", p.checks("! grep -rq bad src"))
	write := func(name, text string) answer {
		return s.call("write_file", args{"path": name, "content": text, "plan_hash": plan})
	}
	write("src/hello.txt", "x").is("FILE_ALREADY_EXISTS")
	write("src/a.txt", "bad\n").is("PREFLIGHT_FAILED")
	write("src/a.txt", "good\n").fine()
	write("src/b.txt", "good\n").refusedFor("used_up")
	s.call("move_file", args{"path": "src/a.txt", "to": "src/c.txt", "plan_hash": plan}).refusedFor("used_up")
	if text := s.call("list_plans", args{}).text("content", 0, "text"); strings.Contains(text, "APPROVED") || !strings.Contains(text, "was for 1 change") {
		t.Errorf("it is listed as %s", text)
	}
	if text := s.call("session_status", args{}).text("content", 0, "text"); strings.Contains(text, plan) {
		t.Errorf("the status says %s", text)
	}
	p.approveWith(plan, "--uses", "2")
	write("src/b.txt", "good\n").fine()
	write("src/c.txt", "good\n").fine()
	write("src/d.txt", "good\n").refusedFor("used_up")
	p.approve(plan)
	write("src/d.txt", "good\n").fine()
	p.holds("src/d.txt", "good\n")
}

// TestAnApprovalExpires moves the expiry of a recorded approval into the past instead of waiting for it.
func TestAnApprovalExpires(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	p.approveWith(plan, "--expires", "2h")
	s := p.executor()
	s.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan}).fine()
	records, err := filepath.Glob(filepath.Join(p.state, "approvals", "*", plan+".json"))
	if err != nil || len(records) != 1 {
		t.Fatalf("%v %v", records, err)
	}
	data, err := os.ReadFile(records[0])
	if err != nil {
		t.Fatal(err)
	}
	record := map[string]json.RawMessage{}
	var at time.Time
	if err := json.Unmarshal(data, &record); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(record["at"], &at); err != nil {
		t.Fatal(err)
	}
	record["expires"], record["at"] = stamp(at.Add(-time.Minute)), stamp(at.Add(-time.Hour))
	data, _ = json.Marshal(record)
	if err := os.WriteFile(records[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	s.call("write_file", args{"path": "src/b.txt", "content": "x", "plan_hash": plan}).refusedFor("expired")
	s.call("write_file", args{"path": "src/b.txt", "content": "x", "plan_hash": plan}).refusedFor("expired") // the session is not locked
	p.holds("src/b.txt", "-")
	if out, _ := p.onWork("plans"); !strings.Contains(out, "has expired") {
		t.Errorf("it is listed as %s", out)
	}
	p.approveWith(plan, "--expires", "1h")
	s.call("write_file", args{"path": "src/b.txt", "content": "x", "plan_hash": plan}).fine()
}

func stamp(at time.Time) json.RawMessage {
	return json.RawMessage(`"` + at.Format(time.RFC3339Nano) + `"`)
}

// TestInvalidApprovalLimitsAreRefused checks that invalid limits are refused before anything is approved.
func TestInvalidApprovalLimitsAreRefused(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	for _, flags := range [][]string{{"--uses", "0"}, {"--uses", "-1"}, {"--uses", "101"}, {"--expires", "0s"}, {"--expires", "-2h"}, {"--expires", "9000h"}, {"--expires", "soon"}} {
		if out, code := p.onWork("approve", append(flags, plan, "--yes")...); code != 2 || !strings.Contains(out, flags[0]) {
			t.Errorf("%v: %d %s", flags, code, out)
		}
	}
}
