package harness_test

import (
	"bytes"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type badSetting struct{ name, value, allowed string }

// badSettings has invalid values of variables, with a word that the error must contain besides the variable.
var badSettings = []badSetting{
	{"MCP_ERROR_METRICS", "maybe", "1, true, yes or on"},
	{"MCP_ERROR_METRICS_SAMPLE", "often", "bucket:"},
	{"MCP_ERRORS_VERBOSE", "very", "full"},
	{"MCP_ERRORS_VERBOSE", "-1", "full"},
	{"MCP_SERVER_NAME", "two\nlines", "printable"},
	{"MCP_MAX_LINE_LEN", "12", "from 256 to"},
	{"MCP_MAX_LINE_LEN", "200k", "from 256 to"},
	{"MCP_RATE_LIMIT", "2", "1, true, yes or on"},
	{"MCP_RATE_LIMIT_CAPACITY", "0", "from 1 to"},
	{"MCP_RATE_LIMIT_REFILL_MS", "soon", "from 1 to"},
	{"MCP_RATE_LIMIT_MODE", "client", "global or method"},
	{"MCP_HEALTH_PORT", "65536", "from 0 to 65535"},
	{"MCP_KG_MAX_TRIPLES", "0", "from 1 to"},
	{"MCP_DOMAINS", "kg,nothing", "all, memory-bank, kg"},
	{"MCP_PYTHON_PATH", "python3", "want"},
	{"MCP_PYTHON_ALLOW", "os;sys", "want"},
	{"MCP_PYTHON_CONFINE", "yes", "want"},
	{"MCP_PYTHON_TIMEOUT_MS", "0", "want"},
	{"MCP_PYTHON_MAX_MEMORY", "1", "want"},
}

func TestInvalidSettingsFailAtStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "notes.txt", strings.Repeat("not a database\n", 100))
	text := filepath.Join(dir, "notes.txt")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // the test ends
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for i, bad := range append(slices.Clone(badSettings), []badSetting{
		{"MCP_HEALTH_PORT", port, "in use"},
		{"MCP_ERROR_METRICS_FILE", filepath.Join(dir, "missing", "x"), "in a folder that exists"},
		{"MCP_ERROR_METRICS_FILE", dir, "in a folder that exists"},
		{"MCP_KG_FILE", dir, "SQLite"},
		{"MCP_KG_FILE", text, "SQLite"},
		{"MCP_KG_FILE", filepath.Join(text, "x"), "SQLite"},
		{"MCP_PYTHON_SCRIPTS", filepath.Join(dir, "missing"), "existing folder"},
		{"MCP_PYTHON_SCRIPTS", text, "existing folder"},
	}...) {
		s := setup{env: []string{bad.name + "=" + bad.value}, mcp: i%2 == 1} // both modes use the same code for settings
		if bad.name != "MCP_DOMAINS" {
			s.flags = []string{"--domain", "kg", "--domain", "python"}
		}
		cmd := s.command(t)
		var said bytes.Buffer
		cmd.Stderr = &said
		out, _ := cmd.Output()
		if code := cmd.ProcessState.ExitCode(); code != 2 || len(out) > 0 || !strings.Contains(said.String(), bad.name) || !strings.Contains(said.String(), bad.allowed) {
			t.Errorf("%s=%q: exit code %d, output %q: %s", bad.name, bad.value, code, out, &said)
		}
	}
}

// TestH8MetricsAreOnForTheDocumentedValues calls sys/errorStats with every value of
// MCP_ERROR_METRICS that docs/harness.md lists.
func TestH8MetricsAreOnForTheDocumentedValues(t *testing.T) {
	t.Parallel()
	for value, on := range map[string]bool{
		"1": true, "true": true, "yes": true, "on": true, "TRUE": true,
		"": false, "0": false, "false": false, "no": false, "off": false,
	} {
		h := start(t, setup{env: []string{"MCP_ERROR_METRICS=" + value}})
		r := h.ask("sys/errorStats", "{}")
		if on {
			if total, ok := r.result().Path("total").Int64(); !ok || total != 0 {
				t.Errorf("MCP_ERROR_METRICS=%q: %s", value, r.m.Bytes())
			}
		} else {
			r.fails(-32601, "candor/METHOD_NOT_FOUND")
		}
		h.end()
	}
	t.Run("MCP", func(t *testing.T) {
		for value, on := range map[string]bool{"1": true, "0": false} {
			h := start(t, setup{mcp: true, env: []string{"MCP_ERROR_METRICS=" + value}})
			if failed := h.ask("sys/errorStats", "{}").number() != 0; failed == on {
				t.Errorf("MCP_ERROR_METRICS=%q: sys/errorStats failed: %v", value, failed)
			}
			if failed := h.call("sys/errorStats", "{}").number() != 0; failed == on {
				t.Errorf("MCP_ERROR_METRICS=%q: the tool sys_errorStats failed: %v", value, failed)
			}
		}
	})
}
