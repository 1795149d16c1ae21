package dual_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/internal/probe"
)

// TestProbeReproducesTheInventory checks that candor probe finds 19 tools with only pattern A and 8 with both patterns,
// and only reports that pattern B is not marked. In the unified form it reports nothing.
func TestProbeReproducesTheInventory(t *testing.T) {
	t.Parallel()
	for _, dialect := range []string{"dual", "dual-unified"} {
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			probeInventory(t, dialect)
		})
	}
}

func probeInventory(t *testing.T, dialect string) {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	out, said, _ := runCandor(t, "probe", "--rules", "dual", "--allow", "*", "--json", "--quiet", "--fail-on", "never", "--",
		binary, "workbench", "dual", "--quiet", "--state", state, "--dialect", dialect)
	var r probe.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %.500s %s", err, out, said)
	}
	if r.Dialect != "dual" && r.Dialect != dialect || len(r.Tools) != 27 { // most failures look the same in both forms
		t.Errorf("the dialect is %s, %d tools", r.Dialect, len(r.Tools))
	}
	count := map[string]int{}
	for _, tool := range r.Tools {
		want := "A"
		if dialect == "dual" {
			want = inventory[tool.Tool]
		}
		got := ""
		switch {
		case len(tool.Patterns) == 1 && tool.Patterns[probe.PatternA] > 0:
			got = "A"
		case len(tool.Patterns) == 2 && tool.Patterns[probe.PatternA] > 0 && tool.Patterns[probe.PatternB] > 0:
			got = "B"
		}
		count[got]++
		if got != want {
			t.Errorf("%s, %s: %v", dialect, tool.Tool, tool.Patterns)
		}
	}
	if dialect == "dual" && (count["A"] != 19 || count["B"] != 8) {
		t.Errorf("%v", count)
	}
	for _, f := range r.Findings {
		if f.Rule != "EC002" || dialect == "dual-unified" || inventory[f.Tool] != "B" {
			t.Errorf("%s: %s %s", dialect, f.Rule, f.Message)
		}
	}
}
