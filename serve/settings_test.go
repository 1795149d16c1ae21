package serve_test

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/dialect"
)

func TestH8MetricsAreOnWithEveryDocumentedValue(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"1", "true", "yes", "on", "TRUE", "Yes", "ON"} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			p := stdio(t, t.TempDir(), "MCP_ERROR_METRICS="+value)
			hello := p.answer(`"hello"`)
			extension := hello.Result().Path("capabilities", "extensions", "dev.candor/errors")
			if stats, _ := extension.Path("stats").Str(); stats != "sys/errorStats" {
				t.Errorf("the extension says %s", extension.Raw())
			}
			p.fail(1)
			m := p.ask("sys/errorStats", "{}")
			if got := statsOf(t, m.Result().Raw()); got.Total != 1 {
				t.Errorf("got %s", m.Bytes())
			}
			p.stop()
		})
	}
}

func TestH8MetricsAreOffOtherwise(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", "0", "false", "no", "off", "OFF"} {
		t.Run("value "+value, func(t *testing.T) {
			t.Parallel()
			p := stdio(t, t.TempDir(), "MCP_ERROR_METRICS="+value)
			hello := p.answer(`"hello"`)
			extension := hello.Result().Path("capabilities", "extensions", "dev.candor/errors")
			if !extension.Present() || extension.Path("stats").Present() {
				t.Errorf("the extension says %s", extension.Raw())
			}
			m := p.ask("sys/errorStats", "{}")
			if code, _ := m.Error().Path("code").Int64(); code != -32601 {
				t.Errorf("got %s", m.Bytes())
			}
			p.stop()
		})
	}
}

// TestBadSettingIsRefusedAtStart checks that the server exits at once with an error that names the valid values, and creates no
// files.
func TestBadSettingIsRefusedAtStart(t *testing.T) {
	t.Parallel()
	for setting, hints := range map[string][]string{
		"MCP_ERROR_METRICS=maybe":              {"MCP_ERROR_METRICS", `"maybe"`, "yes", "off"},
		"MCP_ERROR_METRICS=2":                  {"MCP_ERROR_METRICS", "yes", "off"},
		"MCP_ERROR_METRICS_SAMPLE=often":       {"MCP_ERROR_METRICS_SAMPLE", "often", "bucket:"},
		"MCP_ERROR_METRICS_SAMPLE=0":           {"MCP_ERROR_METRICS_SAMPLE", "bucket:"},
		"MCP_ERROR_METRICS_SAMPLE=bucket:-1/5": {"MCP_ERROR_METRICS_SAMPLE", "bucket:"},
		"MCP_ERRORS_VERBOSE=lots":              {"MCP_ERRORS_VERBOSE", `"lots"`, "full"},
		"MCP_ERRORS_VERBOSE=-1":                {"MCP_ERRORS_VERBOSE", "full"},
		"CANDOR_DIALECT=klingon":               append([]string{"CANDOR_DIALECT", "klingon"}, dialect.Names()...),
		"CANDOR_LEDGER=/dev/null/ledger":       {"/dev/null/ledger", "making the folder", "CANDOR_LEDGER", "none"},
		"CANDOR_LEDGER_KEEP_AGE=soon":          {"CANDOR_LEDGER_KEEP_AGE", `"soon"`, "7d"},
		"CANDOR_LEDGER_KEEP_BYTES=2gb":         {"CANDOR_LEDGER_KEEP_BYTES", `"2gb"`, "2GiB"},
		"CANDOR_LEDGER_COMPRESS=maybe":         {"CANDOR_LEDGER_COMPRESS", `"maybe"`, "true or false"},
		"HOME=":                                {"HOME", "CANDOR_LEDGER", "none"},
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			cmd := command(t, "stdio", home, "CANDOR_LEDGER=", setting)
			out, err := cmd.CombinedOutput()
			if err == nil || cmd.ProcessState.ExitCode() <= 0 {
				t.Errorf("it ended with %v", cmd.ProcessState)
			}
			for _, hint := range hints {
				if !strings.Contains(string(out), hint) {
					t.Errorf("nothing of %q in %q", hint, out)
				}
			}
			if strings.Count(strings.TrimSpace(string(out)), "\n") > 0 {
				t.Errorf("more than a sentence: %q", out)
			}
			if left, _ := filepath.Glob(home + "/*"); len(left) > 0 {
				t.Errorf("it left %v", left)
			}
		})
	}
}

// TestRetentionFollowsTheEnvironment runs a server twice. The second session is short and removes the entries of the first.
func TestRetentionFollowsTheEnvironment(t *testing.T) {
	t.Parallel()
	for setting, gone := range map[string]bool{"CANDOR_LEDGER_KEEP_BYTES=1": true, "CANDOR_LEDGER_KEEP_AGE=1ns": true, "CANDOR_LEDGER_KEEP_AGE=30d": false} {
		home := t.TempDir()
		p := stdio(t, home)
		p.fail(1)
		p.stop()
		p = stdio(t, home, setting)
		p.answer(`"hello"`)
		p.stop()
		if left := len(recorded(t, ledgerOf(home))); (left == 0) != gone {
			t.Errorf("%s: %d failures are left", setting, left)
		}
	}
}

func TestRunningWithoutALedgerIsLogged(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := stdio(t, home, "CANDOR_LEDGER=none", "MCP_ERROR_METRICS=1")
	p.fail(1)
	if m := p.ask("sys/errorStats", "{}"); statsOf(t, m.Result().Raw()).Total != 1 {
		t.Errorf("got %s", m.Bytes())
	}
	p.stop()
	if said := p.printed.String(); !strings.Contains(said, "not recorded") || !strings.Contains(said, "without a ledger") {
		t.Errorf("it printed %q", said)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

func TestLedgerIsInTheStateFolderByDefault(t *testing.T) {
	t.Parallel()
	byDefault := "/.local/state"
	if runtime.GOOS == "darwin" {
		byDefault = "/Library/Application Support"
	}
	for name, folder := range map[string]string{"XDG_STATE_HOME=/state": "/state/candor/ledger", "XDG_STATE_HOME=": byDefault + "/candor/ledger"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			p := stdio(t, home, "CANDOR_LEDGER=", strings.Replace(name, "=/", "="+home+"/", 1))
			p.fail(1)
			p.stop()
			if refs := recorded(t, home+folder); len(refs) != 1 {
				t.Errorf("%d failures are on record", len(refs))
			}
			verified(t, home+folder)
		})
	}
}

// frame matches a line of a stack in the format of the contract: a function and a file name without its directory.
var frame = regexp.MustCompile(`^[\w.*()\[\]-]+ \([\w.]+\.go:\d+\)$`)

func TestH12StackHasAtMostAsManyFramesAsAsked(t *testing.T) {
	t.Parallel()
	for value, frames := range map[string]int{"": 0, "0": 0, "1": 1, "3": 3, "1000": 1000, "full": 1000} {
		t.Run("value "+value, func(t *testing.T) {
			t.Parallel()
			p := stdio(t, t.TempDir(), "CANDOR_DIALECT=rpc", "MCP_ERRORS_VERBOSE="+value)
			m := p.ask("tools/call", call("panics"))
			p.stop()
			data := m.Error().Path("data")
			if symbol, _ := data.Path("symbol").Str(); symbol != "INTERNAL_ERROR" {
				t.Fatalf("got %s", m.Bytes())
			}
			stack, _ := data.Path("stack").Str()
			if frames == 0 {
				if strings.Contains(string(m.Bytes()), "stack") || strings.Contains(string(m.Bytes()), ".go:") {
					t.Errorf("a stack nobody asked for: %s", m.Bytes())
				}
				return
			}
			lines := strings.Split(stack, "\n")
			if len(lines) > frames || !strings.HasPrefix(stack, "serve_test.deep (process_test.go:") {
				t.Errorf("%d frames: %q", len(lines), stack)
			}
			if frames > 6 && len(lines) < 7 {
				t.Errorf("frames of the tool are missing: %q", stack)
			}
			for _, line := range lines {
				if !frame.MatchString(line) || strings.HasPrefix(line, "runtime.") || strings.HasPrefix(line, "boundary.") || strings.HasPrefix(line, "mcp.") {
					t.Errorf("the frame %q", line)
				}
			}
		})
	}
}

func TestDebugStackShowsTheStackInSystemError(t *testing.T) {
	t.Parallel()
	for value, shown := range map[string]bool{"": false, "true": true, "1": false} {
		t.Run("value "+value, func(t *testing.T) {
			t.Parallel()
			p := stdio(t, t.TempDir(), "CANDOR_DIALECT=system-error", "DEBUG_STACK="+value)
			m := p.ask("tools/call", call("panics"))
			p.stop()
			stack, _ := m.Result().Path("structuredContent", "stack_trace").Str()
			if !shown && strings.Contains(string(m.Bytes()), ".go:") || shown && !strings.Contains(stack, "serve_test.deep (process_test.go:") {
				t.Errorf("got %s", m.Bytes())
			}
			if strings.Contains(stack, "/") || strings.Contains(stack, "boundary.") {
				t.Errorf("the stack is %q", stack)
			}
		})
	}
}
