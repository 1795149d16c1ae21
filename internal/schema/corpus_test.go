package schema_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/candor-mcp/candor/internal/schema"
	"github.com/candor-mcp/candor/internal/testing/corpus"
)

func recordedTools(t *testing.T) []corpus.Tool {
	t.Helper()
	tools, err := corpus.Tools()
	if errors.Is(err, corpus.ErrAbsent) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
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
