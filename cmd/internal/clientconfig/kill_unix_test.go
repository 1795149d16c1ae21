//go:build unix

package clientconfig

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// killVariable has the step at which a child kills itself, the operation and the folder.
const killVariable = "CLIENTCONFIG_TEST_KILL"

// TestMain runs the binary as a child that is killed, if the variable is set.
func TestMain(m *testing.M) {
	if order := os.Getenv(killVariable); order != "" {
		killedChild(order)
	}
	os.Exit(m.Run())
}

func killedChild(order string) {
	words := strings.SplitN(order, " ", 3)
	at, _ := strconv.Atoi(words[0])
	dir := words[2]
	e := testEditor()
	n := 0
	e.step = func(string) error {
		if n++; n == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}
	var cursor Client
	for _, c := range Clients() {
		if c.ID == "cursor" {
			cursor = c
		}
	}
	run := e.Install
	if words[1] == "uninstall" {
		run = e.Uninstall
	}
	if _, err := run(context.Background(), File{Client: cursor, Path: filepath.Join(dir, "client", "mcp.json")}, every); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// TestInstallSurvivesKill kills the process with SIGKILL before each call that writes.
func TestInstallSurvivesKill(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, operation := range []string{"install", "uninstall"} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			kills := 0
			for at := 1; ; at++ {
				dir := t.TempDir()
				f, edited := faultFile(t, dir)
				e := testEditor()
				if operation == "uninstall" {
					install(t, e, f)
				}
				cmd := exec.Command(self)
				cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s %s", killVariable, at, operation, dir))
				out, err := cmd.CombinedOutput()
				if err == nil {
					break
				}
				if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
					t.Fatalf("step %d: %v\n%s", at, err, out)
				}
				kills++
				checkSurvival(t, e, f, []byte(faultInput), edited, fmt.Sprintf("killed at step %d of %s", at, operation))
			}
			if kills < 10 {
				t.Errorf("killed only %d times", kills)
			}
		})
	}
}
