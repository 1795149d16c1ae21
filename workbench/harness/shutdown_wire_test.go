package harness_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/wire"
)

func TestH17CountersAreExportedAtTheEnd(t *testing.T) {
	ends := map[string]func(*harness) int{
		"SIGTERM":      func(h *harness) int { return h.stop(syscall.SIGTERM) },
		"SIGINT":       func(h *harness) int { return h.stop(os.Interrupt) },
		"end of input": (*harness).end,
	}
	for name, end := range ends {
		for _, mcp := range []bool{false, true} {
			h := start(t, setup{mcp: mcp, env: []string{"MCP_ERROR_METRICS=1"}})
			for range 3 {
				h.call("sys/ping", `{"x":1}`).fails(1000, "common/E_INVALID_PARAMS")
			}
			if code := end(h); code != 0 {
				t.Errorf("%s, MCP %v: exit code %d, %s", name, mcp, code, &h.said)
			}
			stats := counters(t, filepath.Join(h.state, "error-metrics.json"))
			total, _ := stats.Path("total").Int64()
			if n, _ := stats.Path("byCode", "1000").Int64(); n != 3 || total != 3 {
				t.Errorf("%s, MCP %v: %s", name, mcp, stats.Raw())
			}
		}
	}
	t.Run("to a named file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "counters.json")
		h := start(t, setup{env: []string{"MCP_ERROR_METRICS=on", "MCP_ERROR_METRICS_FILE=" + file}})
		h.ask("no/such", "{}")
		h.stop(syscall.SIGTERM)
		if total, _ := counters(t, file).Path("total").Int64(); total != 1 {
			t.Errorf("total is %d", total)
		}
	})
	t.Run("not if they are off", func(t *testing.T) {
		h := start(t, setup{})
		h.ask("no/such", "{}")
		h.stop(syscall.SIGTERM)
		if _, err := os.Stat(filepath.Join(h.state, "error-metrics.json")); !os.IsNotExist(err) {
			t.Errorf("counters were exported: %v", err)
		}
	})
}

func counters(t *testing.T, file string) wire.Value {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	v, err := wire.ParseValue(data, wire.Limits{})
	if err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return v
}
