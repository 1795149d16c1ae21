package fakeupstream_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/fakeupstream"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// alive returns the ids of the processes with the mark in their command line.
func alive(t *testing.T, mark string) (pids []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if line, _ := os.ReadFile(file); bytes.Contains(line, []byte(mark)) {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}

// gone waits until no process has the mark, because the kernel takes a moment to end a namespace.
func gone(t *testing.T, mark string) {
	t.Helper()
	wait.Until(t, "the end of all processes", func() bool { return alive(t, mark) == nil })
}

func TestNothingOutlivesTheServerOrTheProbe(t *testing.T) {
	ends := map[string]func(up *fakeupstream.Upstream, s *server, cancel func()){
		"the server ends":           func(_ *fakeupstream.Upstream, s *server, _ func()) { _ = s.in.Close() },
		"the outer process is shot": func(_ *fakeupstream.Upstream, s *server, _ func()) { _ = s.cmd.Process.Kill() },
		"the group is shot": func(_ *fakeupstream.Upstream, s *server, _ func()) {
			_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		},
		"the upstream is closed": func(up *fakeupstream.Upstream, _ *server, _ func()) { _ = up.Close() },
		"the context ends":       func(_ *fakeupstream.Upstream, _ *server, cancel func()) { cancel() },
	}
	if err := fakeupstream.Available(); err != nil {
		return // see start
	}
	number := 0
	for name, end := range ends {
		number++
		mark := fmt.Sprintf("mark-%d-%d-of-an-orphan", os.Getpid(), number)
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			up, err := fakeupstream.Start(ctx, fakeupstream.Options{Inside: []string{os.Args[0], "probe-inside"}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = up.Close() }()
			s := run(t, up, os.Args[0], "server", mark)
			wants(t, s.ask("daemon "+mark), "<nil>")
			if n := len(alive(t, mark)); n != 4 { // outer, inner, server, daemon
				t.Fatalf("%d processes, want 4", n)
			}
			end(up, s, cancel)
			gone(t, mark)
		})
	}
}

func TestASignalReachesTheServerOnce(t *testing.T) {
	up := start(t)
	if up == nil {
		return
	}
	s := run(t, up)
	for _, pid := range []int{s.cmd.Process.Pid, -s.cmd.Process.Pid} {
		wants(t, s.ask("env HOME"), os.Getenv("HOME")) // it has started
		_ = syscall.Kill(pid, syscall.SIGTERM)
		if !s.lines.Scan() || s.lines.Text() != "asked" {
			t.Errorf("it says %q, want that it was asked", s.lines.Text())
		}
		wants(t, s.ask("env HOME"), os.Getenv("HOME")) // not a second "asked"
	}
}

func TestMissingCommandIsReported(t *testing.T) {
	up := start(t)
	if up == nil {
		return
	}
	line := up.Wrap([]string{"no-such-command-anywhere"})
	said, err := exec.Command(line[0], line[1:]...).CombinedOutput()
	if err == nil {
		t.Error("a command that does not exist ends well")
	}
	wants(t, string(said), "no-such-command-anywhere", "not found")
	if err := fakeupstream.InsideMain(nil); err == nil || !strings.Contains(err.Error(), "hint: ") {
		t.Errorf("without arguments it says %v, want a next step", err)
	}
}
