package workflow_test

import (
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
)

func TestExamplesAreValidWithoutWarnings(t *testing.T) {
	t.Parallel()
	names := workflow.Examples()
	if len(names) != 3 {
		t.Fatalf("examples: %v", names)
	}
	for _, name := range names {
		data, ok := workflow.Example(name)
		if !ok {
			t.Fatalf("%s: not found", name)
		}
		w, problems := workflow.Check(name+".yaml", data)
		for _, p := range problems {
			t.Error(p)
		}
		if w != nil && (w.ID != name || w.Description == "" || len(w.Guidance) == 0) {
			t.Errorf("%s: id %q, description or guidance missing", name, w.ID)
		}
	}
	if _, ok := workflow.Example("../doc"); ok {
		t.Error("Example reads outside of its folder")
	}
}
