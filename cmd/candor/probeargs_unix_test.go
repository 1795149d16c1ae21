//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/internal/probe"
)

// TestProbeRefusesAReportAsARun: a report lacks observations, and a run without observations would pass.
func TestProbeRefusesAReportAsARun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	text, err := json.Marshal(probe.Report{Version: 1, Rules: "agent", Grade: "D", Findings: []probe.Finding{{Rule: "EC001"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := command(t, "probe", "--run", file).CombinedOutput()
	ended, ok := errors.AsType[*exec.ExitError](err)
	if !ok || ended.ExitCode() != term.ExitUsage || !strings.Contains(string(out), "is a report, not a run") || !strings.Contains(string(out), "--record") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestProbeRewritesOnlyPaths checks that the server gets its command line, with paths that refer to the same files from its folder.
func TestProbeRewritesOnlyPaths(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"start", "data", "bin"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"server.js", "bin/server", "build"} {
		if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	seen := filepath.Join(dir, "seen")
	cmd := command(t, "probe", "--quiet", "--", "sh", "-c", `echo "$@" > "$0"`, seen, "run", "start", "build", "./data", "data", "server.js", "bin/server", ".")
	cmd.Dir = dir
	_ = cmd.Run() // it is not a server
	text, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{"run", "start", "build", dir + "/data", "data", dir + "/server.js", dir + "/bin/server", dir}, " ")
	if got := strings.TrimSpace(string(text)); got != want {
		t.Errorf("the server saw %s, want %s", got, want)
	}
}
