package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"math"
)

// origin is where an error comes from, as far as one package shows it.
type origin int

const (
	unknown origin = iota
	absent         // nil
	coded          // a *candor.Error, or an error that the SDK makes for the protocol
	raw            // anything else
)

// maxSteps bounds how far a value is followed back, because assignments of package variables can form a cycle.
const maxSteps = 32

// checkReturn checks the results that a handler returns.
func (v *vet) checkReturn(ret *ast.ReturnStmt, s scope) {
	if s.fn == nil || s.nested || !s.fn.handler {
		return
	}
	if len(ret.Results) == 0 {
		return // a bare return
	}
	last := ret.Results[len(ret.Results)-1]
	if len(ret.Results) < s.fn.sig.Results().Len() { // return f()
		call, ok := ast.Unparen(last).(*ast.CallExpr)
		switch {
		case !ok:
		case v.forwardsRaw(call):
			v.report(ruleRawError, last, ret, "the function called here returns plain Go errors, and this handler passes them on")
		default:
			if m := v.maskedByHelper(call, s); m != "" {
				v.report(ruleMaskedError, ret, ret, m)
			}
		}
		return
	}
	if v.isNil(last) {
		if m := v.maskedIn(ret, s); m != "" {
			v.report(ruleMaskedError, ret, ret, m)
		}
		return
	}
	if v.originOf(last, last.Pos(), 0) == raw {
		v.report(ruleRawError, last, ret, "a plain Go error leaves this handler, so the client gets no code and no retry advice")
	}
}

// forwardsRaw checks `return f()`. A function with the signature of a handler is checked at its declaration.
func (v *vet) forwardsRaw(call *ast.CallExpr) bool {
	decl := v.declOf(call)
	if decl == nil {
		return false
	}
	fn, ok := v.pass.TypesInfo.Defs[decl.Name].(*types.Func)
	return ok && !isHandler(fn.Signature()) && v.originOf(call, call.Pos(), 0) == raw
}

// originOf returns the origin of the error that an expression has at a position. steps is the number of values followed so far.
func (v *vet) originOf(e ast.Expr, at token.Pos, steps int) origin {
	e = ast.Unparen(e)
	if v.isNil(e) {
		return absent
	}
	if t := named(v.pass.TypesInfo.TypeOf(e)); t != nil && (below(pathOf(t), candorPath) || ofSDK(pathOf(t))) {
		return coded
	}
	switch e := e.(type) {
	case *ast.CallExpr:
		return v.originOfCall(e, at, steps)
	case *ast.Ident:
		return v.originOfVar(v.pass.TypesInfo.ObjectOf(e), at, steps)
	case *ast.SelectorExpr:
		return v.originOfVar(v.pass.TypesInfo.ObjectOf(e.Sel), at, steps)
	}
	return unknown
}

func (v *vet) originOfVar(obj types.Object, at token.Pos, steps int) origin {
	variable, ok := obj.(*types.Var)
	if !ok || variable.IsField() {
		return unknown
	}
	if pathOf(obj) != v.pass.Pkg.Path() {
		if ofSDK(pathOf(obj)) || below(pathOf(obj), candorPath) {
			return coded
		}
		return raw // io.EOF and similar sentinels
	}
	if obj.Parent() == v.pass.Pkg.Scope() {
		at = math.MaxInt // it is set once, at any position
	}
	w, ok := v.lastWrite(obj, at)
	if !ok || w.value == nil || steps > maxSteps {
		return unknown
	}
	return v.originOf(w.value, w.at, steps+1)
}

func (v *vet) originOfCall(call *ast.CallExpr, at token.Pos, steps int) origin {
	fn := v.callee(call)
	switch {
	case fn == nil: // a function value may do anything
		return unknown
	case isFunc(fn, "fmt", "Errorf"), isFunc(fn, "errors", "Join"): // the wrapped errors are in its chain
		for _, arg := range call.Args {
			if isError(v.pass.TypesInfo.TypeOf(arg)) && v.originOf(arg, at, steps) == coded {
				return coded
			}
		}
		return raw
	case isFunc(fn, goSDKPath+"/mcp", "ResourceNotFoundError"), below(pathOf(fn), candorPath):
		return coded
	}
	if decl := v.decls[fn]; decl != nil {
		return v.originOfBody(decl, steps+1)
	}
	return raw
}

// originOfBody returns the origin of the errors that a function returns: raw if one of them is. The result is cached per function,
// and a recursive call counts as unknown.
func (v *vet) originOfBody(decl *ast.FuncDecl, steps int) origin {
	if known, ok := v.origins[decl]; ok {
		return known
	}
	v.origins[decl] = absent
	result := coded
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			one := unknown // for a bare return
			if len(n.Results) > 0 {
				last := n.Results[len(n.Results)-1]
				one = v.originOf(last, last.Pos(), steps)
			}
			if one == raw || one == unknown && result != raw {
				result = one
			}
		}
		return true
	})
	v.origins[decl] = result
	return result
}
