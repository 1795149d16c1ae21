package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// TestLearnPageShowsTheOutput runs the commands of docs/learn.md. Times and refs differ from run to run.
func TestLearnPageShowsTheOutput(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "learn.md"))
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	p := launchIn(t, home, "wrap", "--ledger", "ledger", "--", "candor", "zoo", "--defect", "masked-flag")
	p.trail = filepath.Join(home, "ledger")
	p.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	p.hear()
	p.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"masked-flag","arguments":{"name":"no-such-thing","mode":"brief"}}}`)
	p.hear()
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
	p.ends()
	report := exec.CommandContext(t.Context(), filepath.Join(installed(t), term.ProgramName), "learn", "ledger")
	report.Dir = home
	text, err := report.Output()
	if err != nil {
		t.Fatal(err)
	}
	write := exec.CommandContext(t.Context(), filepath.Join(installed(t), term.ProgramName), "learn", "ledger", "--all", "--write", "zoo.yaml")
	write.Dir = home
	wrote, err := write.Output()
	if err != nil {
		t.Fatal(err)
	}
	_, said, _ := strings.Cut(string(wrote), "\n\nWrote")
	profile, err := os.ReadFile(filepath.Join(home, "zoo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	shown := masked(string(page))
	for _, block := range []string{
		"```text\n$ candor learn ledger\n" + string(text) + "```\n",
		"```text\n$ candor learn ledger --all --write zoo.yaml\n…\nWrote" + said + "```\n",
		"```yaml\n" + string(profile) + "```\n",
	} {
		if !strings.Contains(shown, masked(block)) {
			t.Errorf("docs/learn.md does not have\n%s", block)
		}
	}
}

// masked replaces what differs from run to run.
func masked(text string) string {
	text = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d`).ReplaceAllString(text, "TIME")
	return regexp.MustCompile(`[0-9a-f]{20}`).ReplaceAllString(text, "REF")
}
