package shape

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// W1: one function produces every error result.
func TestW1OneFunctionOfAPackageSetsIsError(t *testing.T) {
	report(t, load(t).isErrorWriters(writers))
}

// writer is a function that may set isError.
type writer struct {
	Dir  string // folder, without its subfolders
	Func string // as in "emission.write"
	Why  string
}

// writers are the functions that set isError. Each package has one, because error paths that write their own results
// differ in the members that they forget.
var writers = []writer{
	{"boundary", "emission.write", "every failed tool call leaves through it"},
}

// watched are the packages that answer calls, besides all below workbench. Dialect and contract are left out: they write results for others.
var watched = []string{"boundary", "adapters/mcpgo", "cmd/internal/gateway", "cmd/internal/gateway/bridge", "cmd/internal/gateway/httpgate", "cmd/internal/gateway/stdio", "cmd/internal/probe", "internal/probe", "cmd/internal/workbench", "cmd/internal/console"}

// isErrorWriters finds functions that set isError and are not in the table, and rows of the table that are not needed.
func (t *sourceTree) isErrorWriters(allowed []writer) []violation {
	var found []violation
	used := make([]bool, len(allowed))
	for _, f := range t.Files {
		if f.Test || !slices.Contains(watched, f.Dir) && !strings.HasPrefix(f.Dir, "cmd/internal/workbench/") {
			continue
		}
		for _, fn := range functions(f) {
			for _, pos := range setsIsError(fn) {
				row := slices.IndexFunc(allowed, func(w writer) bool { return w.Dir == f.Dir && w.Func == funcName(fn) })
				if row >= 0 {
					used[row] = true
					continue
				}
				found = append(found, violation{t.at(pos), funcName(fn) + " sets isError",
					"one function of a package makes every error result; a second one could differ"})
			}
		}
	}
	for i, w := range allowed {
		if !used[i] {
			found = append(found, violation{w.Dir, w.Func + " is in the table and does not set isError", "a stale row hides the next writer"})
		}
	}
	return found
}

// setsIsError returns the positions where a function sets the field, calls the SDK's setter or writes the member itself.
func setsIsError(fn *ast.FuncDecl) []token.Pos {
	var found []token.Pos
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if s, ok := left.(*ast.SelectorExpr); ok && s.Sel.Name == "IsError" {
					found = append(found, left.Pos())
				}
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "IsError" {
				found = append(found, n.Pos())
			}
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "SetError" || strings.HasPrefix(s.Sel.Name, "NewToolResultError")) {
				found = append(found, n.Pos())
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && strings.Contains(strings.ReplaceAll(n.Value, `\`, ""), `"isError":`) {
				found = append(found, n.Pos())
			}
		}
		return true
	})
	return found
}

// funcName is "f", or "T.f" for a method of T or *T.
func funcName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	recv := fn.Recv.List[0].Type
	if star, ok := recv.(*ast.StarExpr); ok {
		recv = star.X
	}
	if id, ok := recv.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}

func functions(f *sourceFile) []*ast.FuncDecl {
	var out []*ast.FuncDecl
	for _, d := range f.Syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			out = append(out, fn)
		}
	}
	return out
}
