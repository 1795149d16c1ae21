//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// probeExit runs candor probe in an empty folder and returns its output and its exit code.
func probeExit(t *testing.T, args ...string) (said string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), shippedCandor(t), append([]string{"probe", "--quiet"}, args...)...)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), failed.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return string(out), 0
}

// TestIncompleteRunFails: an exit code of 0 would hide the checks that did not run.
func TestIncompleteRunFails(t *testing.T) {
	t.Parallel()
	const greets = `while read -r line; do case "$line" in *initialize\"*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}';; esac; done`
	said, code := probeExit(t, "--fail-on", "never", "--total", "4s", "--", "sh", "-c", greets)
	if code != term.ExitUsage || !strings.Contains(said, "incomplete") || !strings.Contains(said, "--total") {
		t.Errorf("out of time: exit code %d\n%s", code, said)
	}
	run := filepath.Join(t.TempDir(), "run")
	if err := os.WriteFile(run, []byte(`{"version":1,"tools":[],"observations":[],"incomplete":"it was stopped"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for failOn, want := range map[string]int{"major": term.ExitUsage, "never": 0} { // converting the format does not judge the run
		if said, code := probeExit(t, "--run", run, "--fail-on", failOn); code != want {
			t.Errorf("--fail-on %s: exit code %d\n%s", failOn, code, said)
		}
	}
	if said, code := probeExit(t, "--total", "1s", "--", "sleep", "60"); code != term.ExitUsage || strings.Contains(said, "grade") {
		t.Errorf("a server that says nothing: exit code %d\n%s", code, said)
	}
}

// TestRegressionFailsWithFailOnNever compares a saved run with a baseline that has one more tool.
func TestRegressionFailsWithFailOnNever(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old, now, baseline := filepath.Join(dir, "old"), filepath.Join(dir, "now"), filepath.Join(dir, "baseline")
	for name, tools := range map[string]string{old: `[{"name":"berths"}]`, now: `[]`} {
		if err := os.WriteFile(name, []byte(`{"version":1,"tools":`+tools+`,"observations":[]}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if said, code := probeExit(t, "--run", old, "--fail-on", "never", "--format", "json", "--out", baseline); code != 0 {
		t.Fatalf("exit code %d\n%s", code, said)
	}
	for run, want := range map[string]int{old: 0, now: term.ExitFound} {
		if said, code := probeExit(t, "--run", run, "--fail-on", "never", "--baseline", baseline); code != want {
			t.Errorf("%s: exit code %d, want %d\n%s", filepath.Base(run), code, want, said)
		}
	}
}

// TestProbeChecksFilesBeforeStart: a run takes minutes, and must not be lost because of a typing error.
func TestProbeChecksFilesBeforeStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, []byte("no report"), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing", "file")
	for _, flags := range [][]string{
		{"--out", missing}, {"--out", dir}, {"--record", missing}, {"--profile-out", missing}, {"--profile-out", there},
		{"--baseline", missing}, {"--baseline", there}, {"--dir", missing}, {"--dir", there}, {"--env", "CANDOR_TEST_IS_NOT_SET"},
	} {
		mark := filepath.Join(dir, "started")
		said, code := probeExit(t, append(flags, "--", "touch", mark)...)
		if _, err := os.Stat(mark); err == nil || code != term.ExitUsage || !strings.Contains(said, flags[0][2:]) || !strings.Contains(said, "hint: ") {
			t.Errorf("%v: exit code %d, started: %v\n%s", flags, code, err == nil, said)
		}
	}
}

// TestProbeOutFollowsLinks uses a link, which is followed and not replaced, and the usual name of standard output.
func TestProbeOutFollowsLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run, file, link := filepath.Join(dir, "run"), filepath.Join(dir, "file"), filepath.Join(dir, "link")
	for name, text := range map[string]string{run: `{"version":1,"tools":[],"observations":[]}`, file: "before"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	if said, code := probeExit(t, "--run", run, "--out", link); code != 0 {
		t.Fatalf("exit code %d\n%s", code, said)
	}
	if to, err := os.Readlink(link); err != nil || to != "file" {
		t.Errorf("the link is gone: %v", err)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "grade ?") {
		t.Errorf("the file behind it holds %q, %v", text, err)
	}
	if said, code := probeExit(t, "--run", run, "--out", "-"); code != 0 || !strings.Contains(said, "grade ?") {
		t.Errorf("- is no standard output: exit code %d\n%s", code, said)
	}
}
