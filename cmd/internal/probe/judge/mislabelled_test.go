package judge_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// recordedTools returns the tools that each recorded server listed, by server and tool.
func recordedTools(t *testing.T) map[string]map[string]*probe.Tool {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "..", "..", "shared", "corpus", "tools.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]*probe.Tool{}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var row struct {
			Server string       `json:"server"`
			Tools  []probe.Tool `json:"tools"`
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		out[row.Server] = map[string]*probe.Tool{}
		for i := range row.Tools {
			out[row.Server][row.Tools[i].Name] = &row.Tools[i]
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// mislabelled reads the records whose labels can be shown to be wrong.
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
