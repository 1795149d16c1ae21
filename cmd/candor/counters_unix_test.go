//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// TestWorkbenchExportsCountersAtTheEnd checks MCP_ERROR_METRICS_FILE for every system of the workbench.
func TestWorkbenchExportsCountersAtTheEnd(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"no_such_tool","arguments":{}}}
`
	for _, system := range [][]string{{"kaiza"}, {"workrail"}, {"harness", "--mcp"}} {
		home := t.TempDir()
		file := filepath.Join(home, "counters.json")
		cmd := exec.CommandContext(t.Context(), filepath.Join(installed(t), term.ProgramName), append([]string{"workbench"}, system...)...)
		cmd.Dir, cmd.Stdin = home, strings.NewReader(call)
		cmd.Env = []string{"HOME=" + filepath.Join(home, "state"), "MCP_ERROR_METRICS=1", "MCP_ERROR_METRICS_FILE=" + file}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", system, err, out)
		}
		if counters, err := os.ReadFile(file); err != nil || !strings.Contains(string(counters), `"total":1,`) {
			t.Errorf("%s: %v: %s", system, err, counters)
		}
	}
}
