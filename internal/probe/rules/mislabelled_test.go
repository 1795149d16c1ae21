package rules_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/testing/corpus"
)

// recordedTools returns the tools that each recorded server listed, by server and tool.
func recordedTools(t *testing.T) map[string]map[string]*probe.Tool {
	t.Helper()
	list, err := corpus.Tools()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]*probe.Tool{}
	for _, row := range list {
		tool := &probe.Tool{Name: row.Name, Description: row.Description, InputSchema: row.Input, OutputSchema: row.Output}
		if err := json.Unmarshal(row.Annotations, &tool.Annotations); err != nil && row.Annotations != nil {
			t.Fatal(err)
		}
		if out[row.Server] == nil {
			out[row.Server] = map[string]*probe.Tool{}
		}
		out[row.Server][row.Name] = tool
	}
	return out
}

// mislabelled reads the records with labels that can be shown to be wrong.
func mislabelled(t *testing.T) map[[3]string]bool {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "mislabelled.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Server, Tool, Case, Is, Why string
	}
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	out := map[[3]string]bool{}
	for _, r := range rows {
		if r.Is == "" || r.Why == "" {
			t.Errorf("%s %s %s: no evidence", r.Server, r.Tool, r.Case)
		}
		out[[3]string{r.Server, r.Tool, r.Case}] = true
	}
	return out
}
