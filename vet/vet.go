package vet

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
)

// vet is the analysis of one package.
type vet struct {
	pass    *analysis.Pass
	options *Options
	decls   map[*types.Func]*ast.FuncDecl
	writes  map[types.Object][]write
	origins map[*ast.FuncDecl]origin

	// State of the current file.
	file    *ast.File
	allowed map[allowance]bool
}

// write is one assignment to a variable. For a call with several results, value is the whole call; it is nil
// if the value has no expression, as in a range.
type write struct {
	at    token.Pos // position of the name on the left
	value ast.Expr
}

// scope is the context of a statement.
type scope struct {
	fn      *function
	nested  bool           // in a function literal inside fn, which has its own returns
	cleanup bool           // in a literal that is deferred or started with go: an error cannot be returned
	nonNil  []types.Object // errors
}

// function is the function to which the rules apply: a handler, or with -all any other.
type function struct {
	sig     *types.Signature
	body    *ast.BlockStmt
	handler bool
}

// returnsError reports whether the last result is an error.
func (f *function) returnsError() bool {
	n := f.sig.Results().Len()
	return n > 0 && isError(f.sig.Results().At(n-1).Type())
}

func (s scope) with(errs []types.Object) scope {
	s.nonNil = append(slices.Clip(s.nonNil), errs...)
	return s
}

// judged reports whether logandcontinue and swallowed apply here.
func (v *vet) judged(s scope) bool { return s.fn != nil && (s.fn.handler || v.options.All) }

// walk visits n and everything below it with its scope.
func (v *vet) walk(n ast.Node, s scope) {
	if n == nil {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			v.enterDecl(n)
			return false
		case *ast.FuncLit:
			v.enterLiteral(n, s, false)
			return false
		case *ast.DeferStmt:
			v.checkRecover(n, s)
			v.enterCall(n.Call, s)
			return false
		case *ast.GoStmt:
			v.enterCall(n.Call, s)
			return false
		case *ast.IfStmt:
			v.enterIf(n, s)
			return false
		case *ast.SwitchStmt:
			if n.Tag == nil {
				v.enterSwitch(n, s)
				return false
			}
		case *ast.AssignStmt:
			v.checkDropped(n, s)
		case *ast.ExprStmt:
			v.checkIgnored(n, s)
		case *ast.ReturnStmt:
			v.checkReturn(n, s)
		}
		return true
	})
}

func (v *vet) enterDecl(decl *ast.FuncDecl) {
	if decl.Body == nil {
		return
	}
	fn, ok := v.pass.TypesInfo.Defs[decl.Name].(*types.Func)
	if !ok {
		return
	}
	sig := fn.Signature()
	v.walk(decl.Body, scope{fn: &function{sig: sig, body: decl.Body, handler: isHandler(sig) && !clientVerbs[decl.Name.Name]}})
}

func (v *vet) enterLiteral(lit *ast.FuncLit, s scope, cleanup bool) {
	sig, ok := v.pass.TypesInfo.TypeOf(lit).(*types.Signature)
	if !ok {
		return
	}
	if s.fn == nil || !cleanup && isHandler(sig) {
		v.walk(lit.Body, scope{fn: &function{sig: sig, body: lit.Body, handler: isHandler(sig)}})
		return
	}
	s.nested, s.cleanup = true, s.cleanup || cleanup
	v.walk(lit.Body, s)
}

// enterCall visits the call of a defer or go statement.
func (v *vet) enterCall(call *ast.CallExpr, s scope) {
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		v.enterLiteral(lit, s, true)
	} else {
		v.walk(call.Fun, s)
	}
	for _, arg := range call.Args {
		v.walk(arg, s)
	}
}

func (v *vet) enterIf(n *ast.IfStmt, s scope) {
	v.checkBranch(n, s)
	v.walkStmt(n.Init, s)
	v.walk(n.Cond, s)
	v.walk(n.Body, s.with(v.guards(n.Cond, token.NEQ)))
	if n.Else != nil {
		v.walk(n.Else, s.with(v.guards(n.Cond, token.EQL)))
	}
}

// enterSwitch visits a switch without a tag; its cases are conditions.
func (v *vet) enterSwitch(n *ast.SwitchStmt, s scope) {
	v.walkStmt(n.Init, s)
	for _, stmt := range n.Body.List {
		clause, ok := stmt.(*ast.CaseClause)
		if !ok {
			continue
		}
		inner := s
		if len(clause.List) == 1 {
			inner = s.with(v.guards(clause.List[0], token.NEQ))
		}
		for _, body := range clause.Body {
			v.walk(body, inner)
		}
	}
}

// walkStmt visits n unless it is nil, so that callers need not check for nil.
func (v *vet) walkStmt(n ast.Stmt, s scope) {
	if n != nil {
		v.walk(n, s)
	}
}

// guards returns the errors that are not nil if a condition holds (op is !=) or does not hold (op is ==).
func (v *vet) guards(cond ast.Expr, op token.Token) []types.Object {
	switch cond := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		if cond.Op == op {
			if err := v.comparedToNil(cond); err != nil {
				return []types.Object{err}
			}
		}
		both := token.LAND // a && b is true if both are; a || b is false if both are
		if op == token.EQL {
			both = token.LOR
		}
		if cond.Op == both {
			return append(v.guards(cond.X, op), v.guards(cond.Y, op)...)
		}
	case *ast.CallExpr:
		fn := v.callee(cond)
		if op == token.NEQ && (isFunc(fn, "errors", "Is") || isFunc(fn, "errors", "As")) && len(cond.Args) == 2 {
			if err := v.errorVar(cond.Args[0]); err != nil {
				return []types.Object{err}
			}
		}
	}
	return nil
}

// comparedToNil returns the error variable that an expression compares to nil, or nil.
func (v *vet) comparedToNil(e *ast.BinaryExpr) types.Object {
	if v.isNil(e.Y) {
		return v.errorVar(e.X)
	}
	if v.isNil(e.X) {
		return v.errorVar(e.Y)
	}
	return nil
}

// errorVar returns the variable that an expression names, if it holds an error.
func (v *vet) errorVar(e ast.Expr) types.Object {
	name, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	obj, ok := v.pass.TypesInfo.ObjectOf(name).(*types.Var)
	if !ok || !isError(obj.Type()) {
		return nil
	}
	return obj
}

// lastWrite returns the last write before a position in the source. In most Go code this is
// the current value; otherwise a finding may be missed or wrong.
func (v *vet) lastWrite(obj types.Object, at token.Pos) (write, bool) {
	var last write
	for _, w := range v.writes[obj] {
		if w.at < at && w.at > last.at {
			last = w
		}
	}
	return last, last.at.IsValid()
}

func (v *vet) reportAllow(c *ast.Comment, what string) {
	v.pass.Report(analysis.Diagnostic{Pos: c.Pos(), End: c.End(), Category: badAllow,
		Message: fmt.Sprintf("%s: %s, so it allows nothing; %s", badAllow, what, nextStep(badAllow))})
}

// hasBoundary reports whether a package serves its handlers through a boundary, which converts plain errors.
func (v *vet) hasBoundary() bool {
	for _, p := range v.pass.Pkg.Imports() {
		switch p.Path() {
		case candorPath + "/boundary", candorPath + "/adapters/mcpgo", candorPath + "/serve":
			return true
		}
	}
	return false
}

// report adds a finding, unless its rule is disabled or allowed on the line of n or of its statement.
func (v *vet) report(rule string, n, stmt ast.Node, what string) {
	if !v.options.wants(rule) || v.allows(rule, n.Pos(), stmt.Pos()) || rule == ruleRawError && v.hasBoundary() {
		return
	}
	v.pass.Report(analysis.Diagnostic{Pos: n.Pos(), End: n.End(), Category: rule,
		Message: fmt.Sprintf("%s: %s; %s (docs/vet.md)", rule, what, nextStep(rule))})
}
