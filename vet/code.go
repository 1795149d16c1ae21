package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// Helpers that the rules share.

const (
	candorPath = "github.com/candor-mcp/candor"
	goSDKPath  = "github.com/modelcontextprotocol/go-sdk"
	mcpGoPath  = "github.com/mark3labs/mcp-go"
)

// declsOf returns the functions of a package by their objects.
func declsOf(pass *analysis.Pass) map[*types.Func]*ast.FuncDecl {
	decls := map[*types.Func]*ast.FuncDecl{}
	for _, file := range pass.Files {
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				if fn, ok := pass.TypesInfo.Defs[d.Name].(*types.Func); ok {
					decls[fn] = d
				}
			}
		}
	}
	return decls
}

// writesOf returns every assignment to each variable of a package.
func writesOf(pass *analysis.Pass) map[types.Object][]write {
	writes := map[types.Object][]write{}
	add := func(name, value ast.Expr) {
		if id, ok := name.(*ast.Ident); ok {
			if obj := pass.TypesInfo.ObjectOf(id); obj != nil {
				writes[obj] = append(writes[obj], write{id.Pos(), value})
			}
		}
	}
	addAll := func(names, values []ast.Expr) {
		for i, name := range names {
			switch {
			case len(values) == len(names):
				add(name, values[i])
			case len(values) == 1:
				add(name, values[0])
			}
		}
	}
	for _, file := range pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				addAll(n.Lhs, n.Rhs)
			case *ast.ValueSpec:
				names := make([]ast.Expr, len(n.Names))
				for i, name := range n.Names {
					names[i] = name
				}
				addAll(names, n.Values)
			case *ast.RangeStmt:
				add(n.Key, nil)
				add(n.Value, nil)
			}
			return true
		})
	}
	return writes
}

// callee returns the called function or method, or nil for a function value. For a generic function it returns the origin.
func (v *vet) callee(call *ast.CallExpr) *types.Func {
	fn, _ := typeutil.Callee(v.pass.TypesInfo, call).(*types.Func)
	if fn == nil {
		return nil
	}
	return fn.Origin()
}

// declOf returns the declaration of the called function if it is in this package.
func (v *vet) declOf(call *ast.CallExpr) *ast.FuncDecl {
	if fn := v.callee(call); fn != nil {
		return v.decls[fn]
	}
	return nil
}

func isFunc(fn *types.Func, path, name string) bool {
	return fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == path && fn.Name() == name && fn.Signature().Recv() == nil
}

func pathOf(obj types.Object) string {
	if obj == nil || obj.Pkg() == nil {
		return ""
	}
	return obj.Pkg().Path()
}

func below(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// ofSDK reports whether a package belongs to one of the SDKs.
func ofSDK(path string) bool { return below(path, goSDKPath) || below(path, mcpGoPath) }

// named returns the type name of t, following a pointer or an alias, or nil.
func named(t types.Type) *types.TypeName {
	if t == nil {
		return nil
	}
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj()
	}
	return nil
}

var errorType = types.Universe.Lookup("error").Type()

// isError reports whether a type is error or implements it.
func isError(t types.Type) bool {
	iface, ok := errorType.Underlying().(*types.Interface)
	return ok && t != nil && t != types.Typ[types.UntypedNil] && types.Implements(t, iface)
}

func (v *vet) isNil(e ast.Expr) bool { return v.pass.TypesInfo.Types[e].IsNil() }

// constant returns the value of a constant expression in Go syntax, or "".
func (v *vet) constant(e ast.Expr) string {
	if value := v.pass.TypesInfo.Types[e].Value; value != nil {
		return value.ExactString()
	}
	return ""
}

// mentions reports whether a variable occurs below a node.
func (v *vet) mentions(n ast.Node, obj types.Object) bool {
	return n != nil && found(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		return ok && v.pass.TypesInfo.ObjectOf(id) == obj
	})
}

// isWrite reports whether at is an assignment to the variable.
func (v *vet) isWrite(obj types.Object, at token.Pos) bool {
	return slices.ContainsFunc(v.writes[obj], func(w write) bool { return w.at == at })
}

// readOutside reports whether the body of a function uses a variable outside of one statement.
func (v *vet) readOutside(obj types.Object, stmt ast.Node, body *ast.BlockStmt) bool {
	return found(body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		return ok && v.pass.TypesInfo.Uses[id] == obj && (id.Pos() < stmt.Pos() || id.Pos() >= stmt.End()) && !v.isWrite(obj, id.Pos())
	})
}

// found reports whether is returns true for n or a node below it.
func found(n ast.Node, is func(ast.Node) bool) bool {
	yes := false
	ast.Inspect(n, func(n ast.Node) bool {
		yes = yes || n != nil && is(n)
		return !yes
	})
	return yes
}
