//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/internal/probe/rules"
)

// TestProbePageIsCurrent compares docs/probe.md with the output and the rules of the program.
func TestProbePageIsCurrent(t *testing.T) {
	t.Parallel()
	line := "candor probe --quiet -- candor zoo --defect masked-flag --defect leak-token --defect field-unnamed"
	cmd := exec.CommandContext(t.Context(), shippedCandor(t), strings.Fields(line)[1:]...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(cmd.Path)+string(os.PathListSeparator)+os.Getenv("PATH"))
	said, err := cmd.Output()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != term.ExitFound {
		t.Fatalf("%v: %s", err, said)
	}
	var table strings.Builder
	table.WriteString("\n| rule | severity | finding | fixed by the gateway |\n|---|---|---|---|\n")
	for _, r := range rules.Rules() {
		fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", r.ID, r.Severity, r.Title, map[bool]string{true: "yes", false: "no"}[r.Outside])
	}
	page := section(t, readPage(t), "<!-- output: go test ./cmd/candor -run PageAboutProbe -update -->\n", "<!-- end of the output -->",
		"```console\n$ "+line+"\n"+string(said)+"```\n")
	page = section(t, page, "<!-- rules -->\n", "<!-- end of the rules -->", table.String())
	if page == readPage(t) {
		return
	}
	if !*update {
		t.Fatal("docs/probe.md is not what the program says; -update writes it")
	}
	if err := os.WriteFile(probePage, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

const probePage = "../../docs/probe.md"

func readPage(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(probePage)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// section replaces the text between two marks.
func section(t *testing.T, page, begin, end, text string) string {
	t.Helper()
	head, rest, ok := strings.Cut(page, begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("the page has no %q", begin)
	}
	return head + begin + text + end + tail
}
