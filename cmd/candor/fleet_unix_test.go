//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// fleetServer runs a server of a node that ships its ledger to a store, and makes failing calls. It returns after the last answer: the
// server is then killed, or ended by closing its input.
func fleetServer(t *testing.T, home, node string, kill bool) {
	t.Helper()
	spool := filepath.Join(home, "spool-"+node)
	cmd := exec.CommandContext(t.Context(), filepath.Join(installed(t), term.ProgramName), "workbench", "kaiza",
		"--ledger", fmt.Sprintf("file:%s?node=%s&dir=%s", filepath.Join(home, "fleet"), node, spool))
	cmd.Dir, cmd.Env = t.TempDir(), []string{"XDG_STATE_HOME=" + filepath.Join(home, "state")}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewScanner(out)
	ask := func(text string, answered bool) {
		if _, err := io.WriteString(in, text+"\n"); err != nil {
			t.Error(err)
		}
		if answered && !answers.Scan() {
			t.Errorf("no answer: %v", answers.Err())
		}
	}
	ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, true)
	ask(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, false)
	for id := range 30 {
		ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"no_such_tool","arguments":{}}}`, id+2), true)
	}
	if kill {
		_ = cmd.Process.Kill() // it runs
	}
	_ = in.Close() // closed by the end of the process in any case
	if err := cmd.Wait(); err != nil && !kill {
		t.Error(err)
	}
}

// TestFleetOfRealServersVerifies runs servers of two nodes, several at a time on the same node, kills some, and verifies meanwhile.
func TestFleetOfRealServersVerifies(t *testing.T) {
	home := t.TempDir()
	verify := func() string {
		cmd := exec.CommandContext(t.Context(), filepath.Join(installed(t), term.ProgramName), "fleet", "verify", "file:"+filepath.Join(home, "fleet"), "--wait", "500ms")
		cmd.Env = []string{"XDG_STATE_HOME=" + filepath.Join(home, "state")}
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), "FAILED") || err != nil && !strings.Contains(string(out), "INCOMPLETE") {
			t.Errorf("%v: %s", err, out)
		}
		return string(out)
	}
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	if err := os.Mkdir(filepath.Join(home, "fleet"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range rounds {
		var servers sync.WaitGroup
		servers.Go(func() { fleetServer(t, home, "web-1", true) })
		servers.Go(func() { fleetServer(t, home, "web-1", false) })
		servers.Go(func() { fleetServer(t, home, "web-2", true) })
		verify()
		servers.Wait()
		verify()
	}
	for _, node := range []string{"web-1", "web-2"} { // a killed server may leave entries that it has not shipped
		fleetServer(t, home, node, false)
		ship := exec.CommandContext(t.Context(), filepath.Join(installed(t), term.ProgramName), "fleet", "ship", "--once",
			filepath.Join(home, "spool-"+node), fmt.Sprintf("file:%s?node=%s", filepath.Join(home, "fleet"), node))
		ship.Env = []string{"XDG_STATE_HOME=" + filepath.Join(home, "state")}
		if out, err := ship.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
	if out := verify(); !strings.Contains(out, "OK: ") || !strings.Contains(out, "of 2 nodes") {
		t.Errorf("got %s", out)
	}
	stats := exec.CommandContext(t.Context(), filepath.Join(installed(t), term.ProgramName), "fleet", "stats", "file:"+filepath.Join(home, "fleet"), "--json")
	out, err := stats.Output()
	if want := fmt.Sprintf(`"failures":%d,`, 30*(3*rounds+2)); err != nil || !strings.Contains(string(out), want) {
		t.Errorf("%v: want %s in %s", err, want, out)
	}
}
