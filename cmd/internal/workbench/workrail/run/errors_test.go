package run_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/run"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/workflow"
)

// TestKindsNameEveryError compares the error types of this package, found in its source, with its kinds. Callers rely on
// it when they switch over all kinds.
func TestKindsNameEveryError(t *testing.T) {
	t.Parallel()
	all := []run.Error{
		&run.InvalidLoop{}, &run.MissingContext{}, &run.ConditionEvalFailed{Err: &workflow.EvalError{}},
		&run.MaxIterationsExceeded{}, &run.InvalidPosition{}, &run.NoPendingStep{},
	}
	kinds := map[run.Kind]bool{}
	for _, e := range all {
		kinds[e.Kind()] = true
		if e.Error() == "" {
			t.Errorf("%s: no message", e.Kind())
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	types, constants := 0, 0
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.Name == "Kind" {
				types++
			}
		case *ast.ValueSpec:
			constants++
		}
		return true
	})
	if types != len(all) || constants != len(all) || len(kinds) != len(all) {
		t.Errorf("%d types with %d kinds, this test knows %d with %d", types, constants, len(all), len(kinds))
	}
}
