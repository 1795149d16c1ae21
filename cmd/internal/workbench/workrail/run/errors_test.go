package run_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/run"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
)

// TestKindsNameEveryError compares the error types of this package, found in its source, with Kinds. Callers rely on it
// when they switch over all kinds.
func TestKindsNameEveryError(t *testing.T) {
	t.Parallel()
	all := []run.Error{
		&run.InvalidLoop{}, &run.MissingContext{}, &run.ConditionEvalFailed{Err: &workflow.EvalError{}},
		&run.MaxIterationsExceeded{}, &run.InvalidPosition{}, &run.NoPendingStep{},
	}
	kinds := make([]run.Kind, 0, len(all))
	for _, e := range all {
		kinds = append(kinds, e.Kind())
		if e.Error() == "" {
			t.Errorf("%s: no message", e.Kind())
		}
	}
	if !slices.Equal(kinds, run.Kinds()) {
		t.Errorf("Kinds: %v, types: %v", run.Kinds(), kinds)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "runError" {
			count++
		}
	}
	if count != len(all) {
		t.Errorf("%d types have runError, this test knows %d", count, len(all))
	}
}
