package driver_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/wait"
)

func TestNoProcessIsLeftBehind(t *testing.T) {
	for _, guard := range [][]string{nil, {os.Args[0], "guard"}} {
		t.Run(fmt.Sprintf("guarded=%v", guard != nil), func(t *testing.T) {
			t.Parallel()
			o := patient(missing)
			o.Guard = guard
			run := driven(t, server("forks"), o)
			var pid int
			_, told, _ := strings.Cut(run.Observations[0].Response, `"forked":`)
			if _, err := fmt.Sscanf(told, "%d", &pid); err != nil || pid == 0 {
				t.Fatalf("the server does not tell whom it has forked: %q", run.Observations[0].Response)
			}
			wait.Until(t, "the end of a process that has left the group and ignores SIGTERM", func() bool { return !runs(pid) })
		})
	}
}

// TestKilledProbeLeavesNoProcess kills probe, so that only the guard can end the processes of the server.
func TestKilledProbeLeavesNoProcess(t *testing.T) {
	t.Parallel()
	assign := filepath.Join(t.TempDir(), "forked")
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), prober+"="+assign, "TMPDIR="+t.TempDir()), os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids [2]int
	wait.Until(t, "both processes", func() bool {
		text, _ := os.ReadFile(assign)
		n, _ := fmt.Sscanf(string(text), "%d %d\n", &pids[0], &pids[1])
		return n == 2 && bytes.HasSuffix(text, []byte("\n"))
	})
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	t.Cleanup(func() { _ = exec.Command("kill", "-9", fmt.Sprint(pids[0]), fmt.Sprint(pids[1])).Run() }) // if the test fails
	wait.Until(t, fmt.Sprintf("the end of %v", pids), func() bool { return !runs(pids[0]) && !runs(pids[1]) })
}

func runs(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && !bytes.Contains(status, []byte("State:\tZ"))
}
