package schema_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/internal/schema"
)

// recordedTool is a tool as a real server lists it.
type recordedTool struct {
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"inputSchema"`
	Output json.RawMessage `json:"outputSchema"`
}

func recordedTools(t *testing.T) (tools []recordedTool) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "corpus", "tools.jsonl.gz"))
	if err != nil {
		t.Skip("no recordings in ../shared/corpus beside the checkout")
	}
	defer f.Close() //nolint:errcheck // read only
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var server struct {
			Tools []recordedTool `json:"tools"`
		}
		if err := json.Unmarshal(lines.Bytes(), &server); err != nil {
			t.Fatal(err)
		}
		tools = append(tools, server.Tools...)
	}
	return tools
}

func TestSchemasOfRealServersAreUnderstood(t *testing.T) {
	t.Parallel()
	compiled, refused, templates, quick, faulty := 0, 0, 0, 0, 0
	for _, tool := range recordedTools(t) {
		for _, raw := range []json.RawMessage{tool.Input, tool.Output} {
			if len(raw) == 0 {
				continue
			}
			s, err := schema.Compile(raw)
			if err != nil {
				refused++
				t.Logf("%s: %v", tool.Name, err)
				continue
			}
			compiled++
			report := s.Explain([]byte(`"no object"`))
			if report.OK() {
				continue
			}
			faulty++
			if report.Template.IsZero() {
				t.Logf("%s: no template for %.300s", tool.Name, raw)
				continue
			}
			templates++
			if s.Accepts([]byte(report.Template.String())) {
				quick++
			} else if !s.Explain([]byte(report.Template.String())).OK() {
				t.Errorf("%s: the template does not pass", tool.Name)
			}
		}
	}
	t.Logf("%d schemas compiled, %d refused; %d templates for %d; %d of them accepted quickly", compiled, refused, templates, faulty, quick)
	if refused*100 > compiled || templates*100 < faulty*95 || quick*100 < templates*85 {
		t.Error("too little is understood of what real servers write")
	}
}
