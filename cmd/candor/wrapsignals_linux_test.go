package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// TestWrapPreservesIgnoredSignals checks that the server of nohup candor wrap ignores the signals that nohup ignores.
func TestWrapPreservesIgnoredSignals(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	candor := filepath.Join(installed(t), term.ProgramName)
	file := filepath.Join(home, "signals")
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `trap '' HUP INT; exec "$0" wrap --ledger none -- sh -c "grep SigIgn /proc/self/status > $1.part; mv $1.part $1; cat"`, candor, file)
	cmd.Env = append(os.Environ(), "HOME="+home)
	input, err := cmd.StdinPipe() // open until the server has run: at the end of its input wrap ends the server after a grace period
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			break
		}
	}
	_ = input.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	out, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	mask := strings.TrimSpace(strings.TrimPrefix(string(out), "SigIgn:"))
	ignored, err := strconv.ParseUint(mask, 16, 64)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if want := uint64(1<<(syscall.SIGHUP-1) | 1<<(syscall.SIGINT-1)); ignored&want != want {
		t.Errorf("ignores %b, want %b too", ignored, want)
	}
}

// TestWrapKillsDaemonsOfServer uses a daemon in a separate session whose parent has exited.
func TestWrapKillsDaemonsOfServer(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "daemon")
	p := launch(t, "wrap", "--", "sh", "-c", fmt.Sprintf(`
		setsid sh -c 'sh -c "trap : TERM HUP; echo \$\$ > %[1]s.part; mv %[1]s.part %[1]s; while :; do sleep 1; done" & exit' &
		while ! test -e %[1]s; do sleep 0.01; done; kill -9 $PPID; sleep 100`, file))
	p.ends()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !strings.Contains(string(state), ") Z ") {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		t.Errorf("the daemon still runs: %s", state)
	}
}
