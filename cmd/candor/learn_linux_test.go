package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/ledger"
)

// suspectedLedger returns a ledger with a suspected failure of each tool of the server shop.
func suspectedLedger(t *testing.T, tools ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	l, err := ledger.Open(dir, ledger.Options{Instance: "wrap"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		err := l.RecordFailure(t.Context(), candor.Failure{
			Error: candor.New(candor.CodeNotFound, "no such item", candor.WithTool(tool)), Verdict: "masked", Method: "tools/call", Upstream: "shop", Suspected: true,
			Rule: "failure-flag", Source: "own", Received: []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"ok\":false,\"error\":\"no such item\"}"}]}}`),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// typed runs candor in a folder and a pseudo-terminal and types each key after the next question. It returns the output and the state of the process.
func typed(t *testing.T, dir string, keys []string, args ...string) (string, *os.ProcessState) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	defer keyboard.Close() //nolint:errcheck // a terminal
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	must(err)
	screen, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	must(err)
	cmd := exec.CommandContext(t.Context(), filepath.Join(installed(t), term.ProgramName), args...)
	cmd.Dir = dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // so that Ctrl-C is a signal
	must(cmd.Start())
	must(screen.Close())
	var out bytes.Buffer
	part := make([]byte, 4096)
	for asked := 0; ; {
		n, err := keyboard.Read(part)
		out.Write(part[:n])
		for strings.Count(out.String(), "[y/N/q]") > asked && asked < len(keys) {
			_, err := io.WriteString(keyboard, keys[asked])
			must(err)
			asked++
		}
		if err != nil { // the command has ended
			break
		}
	}
	_ = cmd.Wait()
	return out.String(), cmd.ProcessState
}

// TestLearnWritesOnlyAfterTheLastAnswer answers the questions of candor learn at a terminal.
func TestLearnWritesOnlyAfterTheLastAnswer(t *testing.T) {
	t.Parallel()
	trail := suspectedLedger(t, "price", "stock", "cart")
	const ctrlC, ctrlD, old = "\x03", "\x04", "version: 1 # mine\nserver: shop\n"
	for name, c := range map[string]struct {
		keys  []string
		rules int // in the file afterwards
		code  int // -1: killed by a signal
		say   string
	}{
		"all":                {[]string{"y\n", "yes\n", "Y\n"}, 3, 0, "Wrote 3 rules to "},
		"one":                {[]string{"n\n", "y\n", "\n"}, 1, 0, "Wrote 1 rule to "},
		"none":               {[]string{"n\n", "\n", "what\n"}, 0, 0, "No rule was accepted. Nothing was written."},
		"stop asking":        {[]string{"y\n", "q\n"}, 1, 0, "Wrote 1 rule to "},
		"Ctrl-C at once":     {[]string{ctrlC}, 0, -1, "Ctrl-C writes nothing"},
		"Ctrl-C after a yes": {[]string{"y\n", "y\n", ctrlC}, 0, -1, "Ctrl-C writes nothing"},
		"Ctrl-D after a yes": {[]string{"y\n", ctrlD}, 0, 2, "the input ended before the last answer; nothing was written"},
	} {
		for _, exists := range []bool{true, false} {
			file := filepath.Join(t.TempDir(), "shop.yaml")
			if exists {
				if err := os.WriteFile(file, []byte(old), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			out, state := typed(t, "", c.keys, "learn", trail, "--write", file)
			if state.ExitCode() != c.code || !strings.Contains(out, c.say) {
				t.Errorf("%s: %s: %s", name, state, out)
			}
			data, err := os.ReadFile(file)
			if c.rules == 0 && exists && string(data) != old || c.rules == 0 && !exists && err == nil || strings.Count(string(data), "suspected: true") != c.rules {
				t.Errorf("%s: %v %s", name, err, data)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".*")); len(left) > 0 {
				t.Errorf("%s: left %q", name, left)
			}
		}
	}
}

// TestLearnsAtOnceLoseNoRule runs several commands that extend one file.
func TestLearnsAtOnceLoseNoRule(t *testing.T) {
	t.Parallel()
	var tools []string
	for i := range 8 {
		tools = append(tools, fmt.Sprint("tool", i))
	}
	trail, file, bin := suspectedLedger(t, tools...), filepath.Join(t.TempDir(), "shop.yaml"), installed(t)
	var wait sync.WaitGroup
	for _, tool := range tools {
		wait.Go(func() {
			out, err := exec.CommandContext(t.Context(), filepath.Join(bin, term.ProgramName), "learn", trail, "--tool", tool, "--all", "--write", file).CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wait.Wait()
	data, err := os.ReadFile(file)
	if err != nil || strings.Count(string(data), "suspected: true") != len(tools) {
		t.Errorf("%v %s", err, data)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

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
	asked, _ := typed(t, home, []string{"y\n"}, "learn", "ledger", "--write", "zoo.yaml")
	asked = strings.ReplaceAll(asked, "\r\n", "\n")
	_, asked, _ = strings.Cut(asked, "\n\ny accepts")
	profile, err := os.ReadFile(filepath.Join(home, "zoo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	shown := masked(string(page))
	for _, block := range []string{
		"```text\n$ candor learn ledger\n" + string(text) + "```\n",
		"```text\n$ candor learn ledger --write zoo.yaml\n…\ny accepts" + asked + "```\n",
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
