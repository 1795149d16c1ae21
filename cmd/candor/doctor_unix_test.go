//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// TestInterruptedDoctorLeavesNoProcess interrupts the doctor while a server with a child process of its own starts.
func TestInterruptedDoctorLeavesNoProcess(t *testing.T) {
	home := t.TempDir()
	const script = "trap '' TERM\nsleep 300 &\necho $$ $! > pids.new\nmv pids.new pids\nwhile true; do sleep 1; done\n"
	cmd := command(t, "doctor", "--ledger", "none", "--", "sh", "-c", script)
	cmd.Env, cmd.Dir = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}, home
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []string
	wait.Until(t, "the server", func() bool {
		data, _ := os.ReadFile(filepath.Join(home, "pids"))
		pids = strings.Fields(string(data))
		return len(pids) > 0
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code is checked
	if code := cmd.ProcessState.ExitCode(); code != term.ExitUsage || !strings.Contains(complaints.String(), "interrupted") {
		t.Errorf("exit code %d: %s", code, complaints.String())
	}
	for _, word := range pids {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		wait.Until(t, "the end of a process", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
	}
}
