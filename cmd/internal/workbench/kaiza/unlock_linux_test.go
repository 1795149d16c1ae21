package kaiza_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// atTerminal runs a command in a new pseudo-terminal, types an answer, and returns the output.
func (p *env) atTerminal(answer string, arguments ...string) (out string, code int) {
	p.t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		p.t.Skipf("no terminal can be made here: %v", err)
	}
	defer keyboard.Close() //nolint:errcheck // a terminal
	p.must(unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	p.must(err)
	screen, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	p.must(err)
	cmd := exec.CommandContext(p.t.Context(), binary, arguments...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	p.must(cmd.Start())
	p.must(screen.Close())
	_, err = io.WriteString(keyboard, answer+"\n")
	p.must(err)
	said, _ := io.ReadAll(keyboard) // returns an error when the command ends
	_ = cmd.Wait()
	return string(said), cmd.ProcessState.ExitCode()
}

// TestUnlockAsks answers the question at a terminal.
func TestUnlockAsks(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	c := p.executor()
	ref := c.breakRule(plan)
	command := []string{"workbench", "unlock", "--root", p.work, "--state", p.state}
	out, code := p.atTerminal("n", command...)
	if code != 1 || c.lockedBy() == "" {
		t.Errorf("no: %d %s", code, out)
	}
	for _, part := range []string{p.lockedID()[:8], "WINDSURF", "PLAN_SCOPE_VIOLATION", "write_file", ref, "Unlock this session?"} {
		if !strings.Contains(out, part) {
			t.Errorf("it does not show %q: %s", part, out)
		}
	}
	if out, code := p.atTerminal("y", command...); code != 0 || c.lockedBy() != "" {
		t.Errorf("yes: %d %s", code, out)
	}
}

// TestUnlockWaitsForALiveCall holds the lock of the workspace, like a call that is changing it. Neither lock is removed.
func TestUnlockWaitsForALiveCall(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	plan := p.approved("src/**")
	c := p.executor()
	c.breakRule(plan)
	name := filepath.Join(filepath.Dir(filepath.Dir(p.lockFiles()[0])), "changes.lock")
	held, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	p.must(err)
	p.must(syscall.Flock(int(held.Fd()), syscall.LOCK_EX))
	report, out := p.unlock(2, "--yes", "--wait", "1s")
	if report.Code != "AUDIT_LOCK_FAILED" || len(p.lockFiles()) != 1 || c.lockedBy() == "" {
		t.Errorf("it was unlocked during a change: %s", out)
	}
	if now, err := os.Stat(name); err != nil {
		t.Error(err)
	} else if was, _ := held.Stat(); !os.SameFile(now, was) {
		t.Error("the file of the lock was replaced")
	}
	p.must(held.Close())
	p.unlock(0, "--yes")
	c.call("write_file", args{"path": "src/a.txt", "content": "x", "plan_hash": plan}).fine()
}
