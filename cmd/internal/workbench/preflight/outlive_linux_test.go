package preflight_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/preflight"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// escapes is a check that starts a child, a process in a new session, and a process in a new session whose parent has
// ended. Each process writes its pid to a file, ignores the signals that can be ignored, and keeps running.
const escapes = `
stay='trap "" TERM HUP INT; echo $$ > $0.tmp; mv $0.tmp $0; while :; do sleep 1; done'
sh -c "$stay" pids/child &
setsid sh -c "$stay" pids/session &
(setsid sh -c 'sh -c "$0" pids/daemon & ' "$stay" &)
while ! [ -e pids/child -a -e pids/session -a -e pids/daemon ]; do sleep 0.01; done
`

// left returns the names of the processes that still run.
func left(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "pids", "*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%v %v: not all were started", files, err)
	}
	var alive []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		if running(pid) {
			alive = append(alive, filepath.Base(file))
		}
	}
	return alive
}

// burrow returns a folder in which the escaped processes write their pids. It kills the processes when the test ends.
func burrow(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "pids"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		files, _ := filepath.Glob(filepath.Join(dir, "pids", "*"))
		for _, file := range files {
			text, _ := os.ReadFile(file)
			if pid, _ := strconv.Atoi(strings.TrimSpace(string(text))); pid > 1 && running(pid) {
				if p, err := os.FindProcess(pid); err == nil {
					_ = p.Kill()
				}
			}
		}
	})
	return dir
}

func TestProcessesEndWithTheirCheck(t *testing.T) {
	for name, end := range map[string]string{"passes": "exit 0", "fails": "exit 3", "is killed": "kill -9 $$", "kills its group": "kill -9 0", "hangs": "sleep 100"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := burrow(t)
			c := shell(escapes + end)
			if name == "hangs" {
				c.Timeout = 2 * time.Second
			}
			results, err := preflight.Run(t.Context(), dir, []preflight.Command{c}, options())
			if (err == nil) != (name == "passes") || results[0].TimedOut != (name == "hangs") {
				t.Errorf("%v %+v", err, results)
			}
			if alive := left(t, dir); len(alive) > 0 {
				t.Errorf("still there: %v", alive)
			}
		})
	}
}

// TestProcessesEndWithTheServer kills the process that runs the check.
func TestProcessesEndWithTheServer(t *testing.T) {
	dir := burrow(t)
	server := exec.CommandContext(t.Context(), self(), "serve", dir, escapes+"touch pids.complete; sleep 100")
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the list of processes", func() bool {
		_, err := os.Stat(filepath.Join(dir, "pids.complete"))
		return err == nil
	})
	if alive := left(t, dir); len(alive) != 3 {
		t.Errorf("before the end of the server only these are there: %v", alive)
	}
	_ = server.Process.Kill()
	_ = server.Wait()
	wait.Until(t, "the end of the processes", func() bool { return len(left(t, dir)) == 0 })
}

// serve runs a check in the process that the test kills.
func serve(dir, script string) {
	results, err := preflight.Run(context.Background(), dir, []preflight.Command{shell(script)}, options())
	fmt.Fprintln(os.Stderr, "the check has ended:", results, err)
}

// TestMemoryOutsideTheGroupCounts starts processes in other sessions that stay below the limit each but exceed
// it together.
func TestMemoryOutsideTheGroupCounts(t *testing.T) {
	c := shell("for i in 1 2 3; do setsid dd if=/dev/zero of=/dev/null bs=150M & done; wait") // not the test binary, because the race detector needs additional memory
	c.Memory, c.Timeout = 400<<20, 10*time.Second
	r, err := run(t, c)
	if err == nil || !r.OverMemory {
		t.Errorf("%+v %v", r, err)
	}
}
