package candortest_test

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/candortest"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/wire"
)

// impatient returns options with short timeouts, for servers that will not answer anyway.
func impatient() candortest.Options {
	return with(func(o *candortest.Options) { o.Timeout, o.Silence = 200*time.Millisecond, 10*time.Millisecond })
}

func TestUnreachableServerIsOneFinding(t *testing.T) {
	for name, tr := range map[string]candortest.Transport{
		"hangs":           candortest.StdioFunc(func() *exec.Cmd { return asServer(t, "hang") }),
		"floods":          candortest.StdioFunc(func() *exec.Cmd { return asServer(t, "flood") }),
		"ends at once":    candortest.StdioFunc(func() *exec.Cmd { return asServer(t, "no such server") }),
		"does not exist":  candortest.Stdio("no-such-command-candortest"),
		"listens nowhere": candortest.HTTP("http://127.0.0.1:1", nil),
	} {
		t.Run(name, func(t *testing.T) {
			findings, err := candortest.Check(t.Context(), tr, impatient())
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range findings {
				if red := f.Problem != ""; red != (i == 0) {
					t.Errorf("%s: problem %q, skipped %q", f.Rule.ID, f.Problem, f.Skipped)
				}
			}
		})
	}
}

func TestServerThatFallsSilentCausesBoundedWaits(t *testing.T) {
	t.Parallel()
	opening := []string{`"initialize"`, `"server/discover"`, `"tools/list","params":{}`, `"tools/list","params":{"_meta"`}
	silent := inProcess(mutant{hear: func(raw []byte) (string, bool) {
		return "", !slices.ContainsFunc(opening, func(part string) bool { return strings.Contains(string(raw), part) })
	}})
	options := impatient()
	options.Eras = []string{"2025-11-25"}
	findings, err := candortest.Check(t.Context(), silent, options)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if f.Rule.ID == "unknown-method" && f.Problem == "" {
			t.Error("silence was not found out")
		}
	}
}

// The server and the process that it started both hold the pipe, so it closes when both have ended.
func TestProcessesOfTheServerEndWithTheConnection(t *testing.T) {
	t.Parallel()
	read, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	tr := candortest.StdioFunc(func() *exec.Cmd {
		cmd := asServer(t, "parent")
		cmd.ExtraFiles = []*os.File{held}
		return cmd
	})
	findings, err := candortest.Check(t.Context(), tr, with(func(o *candortest.Options) { o.Eras = []string{"2025-11-25"} }))
	if err != nil {
		t.Fatal(err)
	}
	if got := findings[0].Stderr; !strings.Contains(got, "started a child") || strings.Contains(got, "hunter2") {
		t.Errorf("stderr is kept and redacted: %q", got)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if err := read.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(read); err != nil {
		t.Errorf("something still runs: %v", err)
	}
}

func TestOnlyAllowedToolsAreCalled(t *testing.T) {
	var mu sync.Mutex
	var called []string
	listening := inProcess(mutant{hear: func(raw []byte) (string, bool) {
		m := wire.Parse(raw, wire.Limits{})
		if name, ok := m.Params().Path("name").Str(); ok && m.MethodIs("tools/call") {
			mu.Lock()
			called = append(called, name)
			mu.Unlock()
		}
		return "", false
	}})
	if _, err := candortest.Check(t.Context(), listening, candortest.Options{Silence: time.Millisecond, Oversize: 32 << 10}); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(called, "add") {
		t.Error("a tool marked readOnlyHint may be called, and was not")
	}
	for _, name := range called {
		if name != "add" && !strings.HasPrefix(name, "candortest_") {
			t.Errorf("%s was called", name)
		}
	}
}

func TestFindingsAreBoundedAndRedacted(t *testing.T) {
	leaky := inProcess(mutant{say: set(nameOnly, quoted("password=hunter2hunter2 "+strings.Repeat("long ", 5000)), "error", "message")})
	findings, err := candortest.Check(t.Context(), leaky, with(func(o *candortest.Options) { o.Only = []string{"no-secret"} }))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if text := f.String(); strings.Contains(text, "hunter2") || len(text) > 16<<10 {
			t.Errorf("%d bytes: %s", len(text), text)
		}
	}
}

func quoted(text string) string { return string(jsontext.AppendString(nil, text)) }
