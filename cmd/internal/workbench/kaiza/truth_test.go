package kaiza_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/testing/servertest"
)

// says checks that a text contains some words, and does not contain those with a leading "!".
func says(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		unwanted, not := strings.CutPrefix(word, "!")
		if strings.Contains(text, unwanted) == not {
			t.Errorf("want %q: %s", word, text)
		}
	}
}

// TestLimitsOfApprovalsAreRecordedAndListed checks the trail and the lists.
func TestLimitsOfApprovalsAreRecordedAndListed(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	p.approveWith(plan, "--uses", "2", "--expires", "2h", "--note", "as discussed")
	entries := p.entries()
	for _, e := range entries[len(entries)-3 : len(entries)-1] { // the reservation and its completion; a checkpoint follows
		says(t, string(e.Data), `"uses":2`, `"expires":"20`, `"note":"as discussed"`)
	}
	s := p.executor()
	s.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan}).fine()
	says(t, s.call("list_plans", args{}).text("content", 0, "text"), `"uses": 2`, `"uses_left": 1`, `"expires": "20`)
	out, _ := p.onWork("plans")
	says(t, out, "approved", "for 1 of 2 changes", "until 20")
	s.call("write_file", args{"path": "src/b.txt", "content": "x", "plan_hash": plan}).fine()
	out, _ = p.onWork("plans")
	says(t, out, "used up", "!harmed")
	out, _ = p.onWork("plans", "--json")
	says(t, out, `"status":"USED_UP"`, `"uses_left":0`)
}

// TestRevokeWaitsForARunningCheck revokes a plan while a change under it is being checked.
func TestRevokeWaitsForARunningCheck(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	open := filepath.Join(filepath.Dir(p.root), "open")
	began := filepath.Join(filepath.Dir(p.root), "began")
	s := p.executor("--policy", p.checks("touch "+began+"; while [ ! -e "+open+" ]; do sleep 0.1; done"))
	written := make(chan answer, 1)
	go func() {
		written <- s.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan})
	}()
	for end := time.Now().Add(servertest.Timeout); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(began); err == nil {
			break
		}
	}
	out, code := p.onWork("revoke", plan, "--yes", "--wait", "10ms")
	if code != 2 {
		t.Errorf("it ends with %d: %s", code, out)
	}
	says(t, out, "--wait", "AUDIT_LOCK_FAILED")
	go func() {
		time.Sleep(7 * time.Second) // longer than a call waits
		_ = os.WriteFile(open, nil, 0o600)
	}()
	if out, code = p.onWork("revoke", plan, "--yes"); code != 0 {
		t.Errorf("it ends with %d: %s", code, out)
	}
	says(t, out, "waiting for a call", "revoked")
	(<-written).fine()
	s.call("write_file", args{"path": "src/b.txt", "content": "x", "plan_hash": plan}).refusedFor("no_record")
}

// TestApprovalMessagesAreTrue checks the output of the commands and of submit_plan for plans that are approved, revoked,
// or without their record.
func TestApprovalMessagesAreTrue(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	says(t, p.approveWith(plan), "!No plan was approved before", "approved by tester")
	planner := p.start()
	planner.begin("planner")
	says(t, planner.call("submit_plan", args{"content": planText("src/**")}).text("structuredContent", "next"), "is approved", "!Ask a person")
	records, _ := filepath.Glob(filepath.Join(p.state, "approvals", "*", plan+".json"))
	if len(records) != 1 || os.Remove(records[0]) != nil {
		t.Fatalf("records: %v", records)
	}
	out, _ := p.onWork("plans")
	says(t, out, "no valid approval is recorded", "!nobody gave")
	if out, code := p.onWork("revoke", plan, "--yes"); code != 0 { // the header still says approved
		t.Errorf("it ends with %d: %s", code, out)
	}
	out, code := p.onWork("revoke", plan, "--yes")
	if code != 1 {
		t.Errorf("it ends with %d: %s", code, out)
	}
	says(t, out, "is not approved", "!revoked")
}

// TestChangeMessagesAreTrue causes failures of changes whose messages were wrong in the past.
func TestChangeMessagesAreTrue(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	s := p.executor()
	a := s.call("apply_patch", args{"plan_hash": plan, "patch": "--- a/src/hello.txt\n+++ b/src/hello.txt\n@@ -1,2 +1,2 @@\n hello\n-world\n\\ No newline at end of file\n+moon\n"})
	a.is("PATCH_APPLY_FAILED")
	says(t, a.text("content", 1, "text"), "newline", "!says line 1, but its lines are at line 1")
	a = s.call("apply_patch", args{"plan_hash": plan, "patch": "--- /dev/null\n+++ b/src/hello.txt\n@@ -0,0 +1 @@\n+x\n"})
	a.is("FILE_ALREADY_EXISTS")
	says(t, a.text("content", 1, "text"), "!previous_hash")
	s.call("delete_file", args{"path": ".", "plan_hash": plan}).is("INVALID_PATH")
	s.call("write_file", args{"path": "src/big.txt", "content": strings.Repeat("é", 5_000_000), "plan_hash": plan}).is("INVALID_INPUT_VALUE")
	status := s.call("session_status", args{})
	if locked, _ := status.m.Result().Path("structuredContent", "locked").Bool(); locked {
		t.Error("the session is locked")
	}
	says(t, s.call("read_audit_log", args{"code": "RUST_POLICY_VIOLATION"}).text("content", 0, "text"), "No entry")
	out, _ := p.onWork("changes", "--json")
	says(t, out, `"changes":[]`)
	s.stop()
	s = p.executor("--policy", p.checks("rm -rf src"))
	a = s.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan})
	a.is("PREFLIGHT_FAILED")
	says(t, a.text("content", 1, "text"), "check", "!make_dirs")
}
