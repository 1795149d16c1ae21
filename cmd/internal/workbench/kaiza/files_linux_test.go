package kaiza_test

import (
	"strings"
	"testing"
)

// TestUndoWaitsForTheCallThatChangesTheWorkspace checks that undo waits for the lock and then fails with the reason.
func TestUndoWaitsForTheCallThatChangesTheWorkspace(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	s := p.executor()
	s.call("write_file", args{"path": "src/a.txt", "content": "a\n", "plan_hash": p.approved("src/**")}).fine()
	s.End()
	m := newMidway(p)
	if out := p.undo(2, "--wait", "1s"); !strings.Contains(out, "AUDIT_LOCK_FAILED") || !strings.Contains(out, "try again") {
		t.Errorf("it says %s", out)
	}
	p.holds("src/a.txt", "a\n")
	m.Kill()
	p.eventually("the check is gone with its server", func() bool { return gone(m.check) })
	p.undo(0) // recovers the change of the killed server first
	p.holds("src/hello.txt", hello)
	p.holds("src/a.txt", "-")
}
