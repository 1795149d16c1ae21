package workrail

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/run"
	"github.com/candor-mcp/candor/cmd/internal/workbench/workrail/session"
	workrailcode "github.com/candor-mcp/candor/codes/workrail"
)

// TestEveryContinueKindHasItsError checks the code of each kind in the source.
func TestEveryContinueKindHasItsError(t *testing.T) {
	t.Parallel()
	want := map[continueKind]candor.Code{
		missingNodeOrRun: workrailcode.TokenUnknownNode, workflowHashMismatch: workrailcode.TokenWorkflowHashMismatch,
		missingSnapshot: workrailcode.PreconditionFailed, noPendingStep: workrailcode.PreconditionFailed,
		advanceApplyFailed: workrailcode.ValidationError, advanceNextFailed: workrailcode.ValidationError,
		sessionStoreError: workrailcode.InternalError, snapshotStoreError: workrailcode.InternalError,
	}
	got := constants(t, "errors.go", "continueKind")
	if len(got) != len(want) {
		t.Errorf("the source has %q, the test %d", got, len(want))
	}
	for _, kind := range got {
		e := (&continueError{kind, &run.InvalidLoop{Path: "p", Key: "k", Reason: "r"}}).public()
		if e.Code() != want[kind] || e.Suggestion() == "" {
			t.Errorf("%s: %s, %q", kind, e.Code(), e.Suggestion())
		}
		if got := publicStore(errors.Join(&continueError{kind: kind})); kind != advanceApplyFailed && kind != advanceNextFailed && got.Code() != want[kind] {
			t.Errorf("%s through the store: %s", kind, got.Code())
		}
	}
}

// constants returns the values of the constants of a type in a file, in order.
func constants(t *testing.T, file, of string) []continueKind {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []continueKind
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == of {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value) //nolint:forcetypeassert,errcheck // a constant of text
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, continueKind(value))
		}
		return true
	})
	return found
}

// TestEveryStoreErrorHasItsCode checks the codes for the errors of the session store.
func TestEveryStoreErrorHasItsCode(t *testing.T) {
	t.Parallel()
	for want, err := range map[candor.Code]error{
		workrailcode.SessionNotHealthy:  &session.UnhealthyError{Health: session.Health{Kind: session.CorruptTail, Reason: &session.Reason{}}},
		workrailcode.TokenSessionLocked: &session.LockedError{},
		workrailcode.TokenUnknownNode:   session.ErrNotFound,
		workrailcode.InternalError:      errors.New("the disk is gone"),
	} {
		if got := publicStore(err).Code(); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
	for kind, err := range map[string]error{"too_many_sessions": session.ErrTooMany, "session_too_large": session.ErrTooLarge} {
		e := publicStore(err)
		if got := e.Details().Get("kind").String(); e.Code() != workrailcode.PreconditionFailed || got != strconv.Quote(kind) {
			t.Errorf("%v: %s %s", err, e.Code(), e.Details())
		}
	}
}
