//go:build unix

package harness_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestUnreadResponsesHaveExitCode1 stops a harness whose client sends requests and reads nothing.
func TestUnreadResponsesHaveExitCode1(t *testing.T) {
	t.Parallel()
	s := setup{}
	cmd := s.command(t)
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer out.Close()  //nolint:errcheck // it is never read
	_ = stdout.Close() // the child has a copy
	go func() {        // until the harness stops reading
		_, _ = io.WriteString(in, strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"sys/metrics"}`+"\n", 50_000))
	}()
	waitUntilStuck(t, cmd)
	_ = cmd.Process.Signal(syscall.SIGTERM)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		t.Fatal("the process goes on")
	}
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(said.String(), "does not read") {
		t.Errorf("exit code %d: %s", code, &said)
	}
}

// waitUntilStuck waits until a process uses no more processor time.
func waitUntilStuck(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var last string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid), "stat"))
		if err != nil {
			time.Sleep(5 * time.Second) // no /proc on this system
			return
		}
		fields := strings.Fields(string(stat))
		used := fields[13] + " " + fields[14]
		if used == last {
			return
		}
		last = used
	}
}

// TestUnwrittenCountersHaveExitCode1 removes the directory of the counters while the harness runs.
func TestUnwrittenCountersHaveExitCode1(t *testing.T) {
	t.Parallel()
	for _, mcp := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "counters")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		h := start(t, setup{mcp: mcp, env: []string{"MCP_ERROR_METRICS=1", "MCP_ERROR_METRICS_FILE=" + filepath.Join(dir, "c.json")}})
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		if code := h.end(); code != 1 || !strings.Contains(h.said.String(), "counters") {
			t.Errorf("MCP %v: exit code %d: %s", mcp, code, &h.said)
		}
	}
}
