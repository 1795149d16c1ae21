package candorvet

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Every fix produces code that compiles, and no fix returns a nil *candor.Error as a non-nil error.

// fixRaw returns the fix for a raw error that a handler returns, or nil if no safe fix is known.
func (v *vet) fixRaw(ret *ast.ReturnStmt, e ast.Expr, s scope) []analysis.SuggestedFix {
	name, edits, ok := v.importCandor(ret.Pos())
	if !ok {
		return nil
	}
	if text := v.authored(e); text != "" {
		return fix("Give the error a code", edits, replace(e, fmt.Sprintf("%s.New(%s.CodeUnknownToolFailure, %s)", name, name, text)))
	}
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && isFunc(v.callee(call), "fmt", "Errorf") {
		return fix("Wrap the error in candor.From", edits, wrap(e, name)...)
	}
	obj := v.errorVar(e)
	switch {
	case obj == nil:
		return nil
	case v.certain(obj, s, e.Pos()):
		return fix("Wrap the error in candor.From", edits, wrap(e, name)...)
	case v.repeatable(ret.Results[:len(ret.Results)-1]):
		return fix("Wrap the error in candor.From if there is one", edits, v.split(ret, e, name))
	}
	return nil
}

// authored returns the Go expression of the text that the author of the server wrote for this error, or "" if it quotes another
// error, whose text may not be suitable for the client.
func (v *vet) authored(e ast.Expr) string {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || call.Ellipsis.IsValid() {
		return ""
	}
	fn := v.callee(call)
	switch {
	case isFunc(fn, "errors", "New"):
		return v.text(call.Args[0])
	case isFunc(fn, "fmt", "Errorf"):
		for _, arg := range call.Args[1:] {
			if isError(v.pass.TypesInfo.TypeOf(arg)) || mentionsErrorText(arg) {
				return ""
			}
		}
		return v.formatted(call)
	}
	return ""
}

// formatted turns a call of fmt.Errorf into an expression of its text.
func (v *vet) formatted(call *ast.CallExpr) string {
	if format := v.constant(call.Args[0]); len(call.Args) == 1 && format != "" && !strings.Contains(format, "%") {
		return v.text(call.Args[0])
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok { // imported with a dot
		return ""
	}
	return v.text(sel.X) + ".Sprintf" + v.between(sel.Sel.End(), call.End())
}

// mentionsErrorText reports whether n calls err.Error().
func mentionsErrorText(n ast.Node) bool {
	return found(n, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "Error"
	})
}

// repeatable reports whether expressions may be duplicated: names, constants and nil.
func (v *vet) repeatable(list []ast.Expr) bool {
	for _, e := range list {
		if _, ok := e.(*ast.Ident); !ok && v.constant(e) == "" {
			return false
		}
	}
	return true
}

// split turns `return x, err` into a branch for the error and a return without it, because candor.From(nil) as an error is not nil.
func (v *vet) split(ret *ast.ReturnStmt, e ast.Expr, name string) analysis.TextEdit {
	before := ""
	for _, r := range ret.Results[:len(ret.Results)-1] {
		before += v.text(r) + ", "
	}
	err, indent := v.text(e), v.indent(ret)
	return replace(ret, fmt.Sprintf("if %s != nil {\n%s\treturn %s%s.From(%s)\n%s}\n%sreturn %snil", err, indent, before, name, err, indent, indent, before))
}

func (v *vet) indent(n ast.Node) string {
	column := v.pass.Fset.Position(n.Pos()).Column
	return strings.Repeat("\t", column-1)
}

// fixMasked returns the fix for a failure that is returned as a success: it returns the error, and no result.
func (v *vet) fixMasked(ret *ast.ReturnStmt, m *mask, s scope) []analysis.SuggestedFix {
	name, edits, ok := v.importCandor(ret.Pos())
	if !ok || !v.droppable(ret, m, s) {
		return nil
	}
	zeros := ""
	for i, r := range ret.Results[:len(ret.Results)-1] {
		zero := v.zero(s.fn.sig.Results().At(i).Type(), r)
		if zero == "" {
			return nil
		}
		zeros += zero + ", "
	}
	results := analysis.TextEdit{Pos: ret.Results[0].Pos(), End: ret.Results[len(ret.Results)-1].End()}
	switch {
	case m.err != nil && v.certain(m.err, s, ret.Pos()):
		results.NewText = fmt.Appendf(nil, "%s%s.From(%s)", zeros, name, m.err.Name())
	case m.err == nil && m.text != nil:
		results.NewText = fmt.Appendf(nil, "%s%s.New(%s.CodeUnknownToolFailure, %s)", zeros, name, name, v.text(m.text))
	default:
		return nil
	}
	return fix("Return the error", edits, results)
}

// droppable reports whether the results may be removed: code with a variable that is no longer used would not compile, and
// a comment inside would be lost.
func (v *vet) droppable(ret *ast.ReturnStmt, m *mask, s scope) bool {
	for _, group := range v.file.Comments {
		if group.Pos() > ret.Pos() && group.End() < ret.End() {
			return false
		}
	}
	return !found(ret, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return false
		}
		obj, ok := v.pass.TypesInfo.Uses[id].(*types.Var)
		if !ok || obj == m.err || obj.IsField() || obj.Pos() < s.fn.body.Pos() || obj.Pos() > s.fn.body.End() {
			return false
		}
		if m.err == nil && m.text != nil && id.Pos() >= m.text.Pos() && id.Pos() < m.text.End() {
			return false // the fix keeps the text
		}
		return !v.readOutside(obj, ret, s.fn.body)
	})
}

// zero returns the zero value of a type in Go syntax at the position of e, or "".
func (v *vet) zero(t types.Type, e ast.Expr) string {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return ""
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Interface, *types.Map, *types.Slice:
		return "nil"
	case *types.Struct:
		if lit, ok := ast.Unparen(e).(*ast.CompositeLit); ok && lit.Type != nil && types.Identical(v.pass.TypesInfo.TypeOf(lit), t) {
			return v.text(lit.Type) + "{}"
		}
	case *types.Basic:
		switch {
		case u.Info()&types.IsString != 0:
			return `""`
		case u.Info()&types.IsNumeric != 0:
			return "0"
		case u.Info()&types.IsBoolean != 0:
			return "false"
		}
	}
	return ""
}

// importCandor returns the name of the package candor at a position and the edits that import it, or false if the name is in use.
func (v *vet) importCandor(at token.Pos) (name string, edits []analysis.TextEdit, ok bool) {
	if v.pass.Pkg.Path() == candorPath || len(v.source(v.file)) == 0 {
		return "", nil, false
	}
	name = path.Base(candorPath)
	for _, spec := range v.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != candorPath {
			continue
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imported, ok := v.means(name, at).(*types.PkgName)
		return name, nil, ok && imported.Imported().Path() == candorPath
	}
	if v.means(name, at) != nil || v.pass.Pkg.Scope().Lookup(name) != nil {
		return "", nil, false
	}
	return name, []analysis.TextEdit{v.addImport()}, true
}

// means returns the object that a name refers to at a position.
func (v *vet) means(name string, at token.Pos) types.Object {
	inner := v.pass.TypesInfo.Scopes[v.file].Innermost(at)
	if inner == nil {
		return nil
	}
	_, obj := inner.LookupParent(name, at)
	return obj
}

// addImport adds candor to the last import declaration, in a separate group if the last group is the standard library's.
func (v *vet) addImport() analysis.TextEdit {
	quoted := strconv.Quote(candorPath)
	var last *ast.GenDecl
	for _, decl := range v.file.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
			last = d
		}
	}
	switch {
	case last == nil:
		return insert(v.file.Name.End(), "\n\nimport "+quoted)
	case !last.Rparen.IsValid() || len(last.Specs) == 0:
		return insert(last.End(), "\nimport "+quoted)
	}
	spec, ok := last.Specs[len(last.Specs)-1].(*ast.ImportSpec)
	gap := "\n\t"
	if ok && !strings.Contains(spec.Path.Value, ".") {
		gap = "\n\n\t"
	}
	return insert(last.Specs[len(last.Specs)-1].End(), gap+quoted)
}

func fix(message string, imports []analysis.TextEdit, edits ...analysis.TextEdit) []analysis.SuggestedFix {
	return []analysis.SuggestedFix{{Message: message, TextEdits: append(imports, edits...)}}
}

func wrap(e ast.Expr, name string) []analysis.TextEdit {
	return []analysis.TextEdit{insert(e.Pos(), name+".From("), insert(e.End(), ")")}
}

func insert(at token.Pos, text string) analysis.TextEdit {
	return analysis.TextEdit{Pos: at, End: at, NewText: []byte(text)}
}

func replace(n ast.Node, text string) analysis.TextEdit {
	return analysis.TextEdit{Pos: n.Pos(), End: n.End(), NewText: []byte(text)}
}
