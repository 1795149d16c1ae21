//go:build unix

package main

import (
	"bufio"
	"bytes"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/meter"
)

const harnessPage = "../../docs/harness.md"

// checkTranscript compares the transcript on a page of the documentation with the present one, or writes it with -update.
func checkTranscript(t *testing.T, page, played string) {
	t.Helper()
	begin := "<!-- transcript: go test ./cmd/candor -run " + t.Name() + " -update -->\n```console\n"
	const end = "```\n<!-- end of the transcript -->"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), begin)
	written, tail, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Fatalf("%s has no place for the transcript", page)
	case written == played:
	case !*update:
		t.Fatalf("%s has another transcript; -update writes this one:\n%s", page, played)
	default:
		if err := os.WriteFile(page, []byte(head+begin+played+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// harnessStory is the transcript of docs/harness.md: each line is sent after the answer to the one before.
var harnessStory = []string{
	`{"jsonrpc":"2.0","id":1,"method":"kg/add","params":{"subject":"Candor","predicate":"is","object":"honest"}}`,
	`{"jsonrpc":"2.0","id":2,"method":"kg/query","params":{"subject":"Candor"}}`,
	`{"jsonrpc":"2.0","id":3,"method":"kg/add","params":{"subject":"one","predicate":"too","object":"many"}}`,
	`{"jsonrpc":"2.0","id":4,"method":"mb/read","params":{"file":"../secret"}}`,
	`{"jsonrpc":"2.0","id":5,"method":"mb/search","params":{"query":"honest"}}`,
	`{"jsonrpc":"2.0","id":6,"method":"py/run","params":{"code":"print(1)"}}`,
	`{"jsonrpc":"2.0","id":7,"method":"kg/forget"}`,
	`not JSON`,
	`{"jsonrpc":"2.0","id":8,"method":"sys/errorStats"}`,
}

var harnessVolatile = regexp.MustCompile(`,"dev\.candor/error":\{.*\}(\}\}\})`)

// TestHarnessPage runs the transcript of docs/harness.md and compares the output.
func TestHarnessPage(t *testing.T) {
	checkTranscript(t, harnessPage, playHarness(t))
}

func playHarness(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), filepath.Join(installed(t), term.ProgramName), "workbench", "harness", "--quiet")
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "MCP_ERROR_METRICS=1", "MCP_KG_MAX_TRIPLES=1"}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var story strings.Builder
	story.WriteString("$ MCP_ERROR_METRICS=1 MCP_KG_MAX_TRIPLES=1 candor workbench harness\n")
	answers := bufio.NewReader(out)
	next := func() string {
		line, err := answers.ReadString('\n')
		if err != nil {
			t.Fatalf("%v: %s", err, &said)
		}
		return strings.TrimSuffix(line, "\n")
	}
	story.WriteString("← " + next() + "\n")
	for _, line := range harnessStory {
		if _, err := in.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
		story.WriteString("→ " + line + "\n← " + harnessVolatile.ReplaceAllString(next(), "$1") + "\n")
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil || said.Len() > 0 {
		t.Errorf("%v: %s", err, &said)
	}
	return story.String()
}

// readVariables returns the names of all variables that the harness and its domains read, including names that are built
// at run time.
func readVariables(t *testing.T) map[string]bool {
	t.Helper()
	var mu sync.Mutex
	asked := map[string]bool{}
	getenv := func(name string) string {
		mu.Lock()
		defer mu.Unlock()
		asked[name] = true
		if name == "MCP_ERROR_METRICS" {
			return "1" // the other variables about counters are read only then
		}
		return ""
	}
	settings, err := harness.SettingsFromEnv(getenv)
	if err != nil {
		t.Fatal(err)
	}
	settings.Domains = harness.Names()
	counts, err := meter.New(meter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := harness.Open(harness.Options{
		Settings: settings, Meter: counts,
		Environment: domain.Environment{Getenv: getenv, State: t.TempDir(), Logger: slog.New(slog.DiscardHandler)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	return asked
}

// TestHarnessPageNamesEveryVariable compares the tables of docs/harness.md with the variables that are read, in both directions.
func TestHarnessPageNamesEveryVariable(t *testing.T) {
	page, err := os.ReadFile(harnessPage)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Variables\n")
	section, _, ended := strings.Cut(section, "\n## ")
	if !ended {
		t.Fatal("the page has no section Variables")
	}
	named := map[string]bool{}
	for row := range strings.Lines(section) {
		if cells := strings.Split(row, "|"); len(cells) > 2 {
			for _, name := range regexp.MustCompile("`([A-Z][A-Z_]+)`").FindAllStringSubmatch(cells[1], -1) {
				named[name[1]] = true
			}
		}
	}
	read := readVariables(t)
	for name := range read {
		if !named[name] {
			t.Errorf("docs/harness.md does not name %s, which is read", name)
		}
	}
	for name := range named {
		if !read[name] {
			t.Errorf("docs/harness.md names %s, which is not read", name)
		}
	}
	if len(named) < 40 {
		t.Errorf("the page names only %d variables", len(named))
	}
}
