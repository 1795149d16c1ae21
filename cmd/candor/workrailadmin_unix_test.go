//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/cli"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// railHome is a state folder with a running server.
type railHome struct {
	t      *testing.T
	dir    string
	binary string
	*railClient
}

func newRailHome(t *testing.T) *railHome {
	t.Helper()
	h := &railHome{t: t, dir: t.TempDir(), binary: filepath.Join(installed(t), term.ProgramName)}
	var err error
	if h.railClient, err = startRail(h.binary, h.dir, os.Environ(), "--state", "state", "--quiet"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.stop(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h *railHome) call(tool string, in map[string]any) *railAnswer {
	h.t.Helper()
	a, err := h.railClient.call(tool, in)
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

func (h *railHome) begin() *railAnswer {
	h.t.Helper()
	return h.call("start_workflow", map[string]any{"workflowId": "bug-hunt", "context": map[string]any{"report": "it crashes"}})
}

// command returns a candor command for the state.
func (h *railHome) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(h.t.Context(), h.binary, append(append([]string{"workbench", "workrail"}, args...), "--state", "state")...)
	cmd.Dir = h.dir
	return cmd
}

func (h *railHome) candor(args ...string) (string, int) {
	cmd := h.command(args...)
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

func failedWith(a *railAnswer, code string) bool {
	return a.Error && strings.Contains(strings.Join(a.Text, "\n"), code+":")
}

// TestWorkrailServerFollowsTheCommands checks that commands on keys and sessions affect a running server.
func TestWorkrailServerFollowsTheCommands(t *testing.T) {
	h := newRailHome(t)
	first := h.begin()
	resume := map[string]any{"resumeToken": first.Data.Resume}
	if out, code := h.candor("rotate-keys"); code != 0 {
		t.Fatal(out)
	}
	if a := h.call("resume_session", resume); a.Error {
		t.Errorf("a token of the old key after a rotation: %s", a.Text)
	}
	if out, code := h.candor("rotate-keys", "--retire", "--yes"); code != 0 {
		t.Fatal(out)
	}
	if a := h.call("resume_session", resume); !failedWith(a, "TOKEN_BAD_SIGNATURE") {
		t.Errorf("a token of a retired key: %s", a.Text)
	}
	again := h.call("resume_session", map[string]any{"sessionId": first.Data.Session})
	if again.Error || again.Data.Continue == "" {
		t.Fatalf("by the id: %s", again.Text)
	}
	if out, code := h.candor("gc", first.Data.Session, "--yes"); code != 0 {
		t.Fatal(out)
	}
	if a := h.call("continue_workflow", map[string]any{"continueToken": again.token(), "notes": "x"}); !failedWith(a, "TOKEN_UNKNOWN_NODE") {
		t.Errorf("after the session was removed: %s", a.Text)
	}
	if a := h.begin(); a.Error { // gc has removed the stored workflow too
		t.Errorf("a new session: %s", a.Text)
	}
	if out, code := h.candor("doctor"); code != 0 || !strings.HasPrefix(out, "OK: 1 of 1") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// TestWorkrailGCIsInterrupted checks that an interrupt ends gc between two sessions. Each is removed or unchanged.
func TestWorkrailGCIsInterrupted(t *testing.T) {
	h := newRailHome(t)
	const all = 40
	for range all {
		h.begin()
	}
	cmd := h.command("gc", "--older-than", "0s", "--yes", "--json")
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	sessions := func() int {
		names, err := filepath.Glob(filepath.Join(h.dir, "state", "sessions", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	for end := time.Now().Add(10 * time.Second); sessions() == all && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	_ = cmd.Process.Signal(syscall.SIGINT) // it may have ended
	_ = cmd.Wait()
	var report struct {
		Removed []string `json:"removed"`
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	if code := cmd.ProcessState.ExitCode(); code != term.ExitUsage && (code != term.ExitOK || len(report.Removed) < all) {
		t.Errorf("exit code %d after %d removals", code, len(report.Removed))
	}
	if got := sessions(); got != all-len(report.Removed) {
		t.Errorf("%d of %d are left, %d were removed", got, all, len(report.Removed))
	}
	if said, code := h.candor("doctor"); code != 0 || strings.Contains(said, "leftover") {
		t.Errorf("exit code %d: %s", code, said)
	}
}

// TestWorkrailAsksAtATerminal checks that nothing changes unless the user confirms.
func TestWorkrailAsksAtATerminal(t *testing.T) {
	state := t.TempDir()
	left := filepath.Join(state, "sessions", "new-0123456789abcdef")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	typed := func(input string, args ...string) (code int, out, complaints string) {
		var stdout, stderr bytes.Buffer
		env := &term.Env{In: strings.NewReader(input), Out: term.NewOutput(&stdout, false), Err: &stderr, Terminal: true, Interactive: true, ColorMode: "never",
			Getenv: func(string) string { return "" }, Now: func() time.Time { return time.Now().Add(time.Hour) }}
		code = cli.Run(env, append([]string{"--color", "never", "workbench", "workrail"}, append(args, "--state", state)...))
		return code, stdout.String(), stderr.String()
	}
	for _, no := range []string{"", "n\n", "maybe\n"} {
		code, out, said := typed(no, "doctor", "--repair")
		if code != term.ExitFound || !strings.Contains(out, "Make the 1 repair above? [y/N]") || !strings.Contains(said, "nothing was changed") {
			t.Errorf("%q: exit code %d, %s, %s", no, code, out, said)
		}
		if _, err := os.Stat(left); err != nil {
			t.Errorf("%q: %v", no, err)
		}
	}
	if code, out, said := typed("y\n", "doctor", "--repair"); code != term.ExitOK || !strings.Contains(out, "repaired leftover") {
		t.Errorf("exit code %d, %s, %s", code, out, said)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("after yes: %v", err)
	}
	if code, out, said := typed("", "rotate-keys"); code != term.ExitOK {
		t.Errorf("exit code %d, %s, %s", code, out, said)
	}
	if code, _, said := typed("n\n", "rotate-keys", "--retire"); code != term.ExitFound || !strings.Contains(said, "nothing was changed") {
		t.Errorf("exit code %d, %s", code, said)
	}
}
