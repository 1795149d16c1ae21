package serve_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/dialect"
)

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
			cmd := command(t, home, "CANDOR_LEDGER=", setting)
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
