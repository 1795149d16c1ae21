package vet

import (
	"go/ast"
	"go/types"
)

// returnsSuccess reports whether a branch for a non-nil error returns a nil error, and adds a finding if the error is lost.
func (v *vet) returnsSuccess(n *ast.IfStmt, err types.Object, s scope) bool {
	if s.nested || len(n.Body.List) == 0 || !s.fn.returnsError() {
		return false
	}
	ret, ok := n.Body.List[len(n.Body.List)-1].(*ast.ReturnStmt)
	if !ok || !v.returnsNil(ret, s) {
		return false
	}
	for _, stmt := range n.Body.List[:len(n.Body.List)-1] {
		if !v.isLogStmt(stmt) { // it handles the error or inspects it
			return true
		}
	}
	inside := s.with([]types.Object{err})
	if v.mentions(ret, err) || v.reportsFailure(ret, s) || s.fn.handler && v.maskedIn(ret, inside) != "" {
		return true
	}
	v.report(ruleSwallowed, ret, ret, "there is an error here, and the function returns success")
	return true
}

// returnsNil reports whether a return statement returns a nil error.
func (v *vet) returnsNil(ret *ast.ReturnStmt, s scope) bool {
	return len(ret.Results) == s.fn.sig.Results().Len() && v.isNil(ret.Results[len(ret.Results)-1])
}

func (v *vet) isLogStmt(stmt ast.Stmt) bool {
	e, ok := stmt.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := e.X.(*ast.CallExpr)
	return ok && v.isLog(call)
}

// reportsFailure reports whether a result has isError, or is built by a function with a name for reporting failures.
func (v *vet) reportsFailure(ret *ast.ReturnStmt, s scope) bool {
	return v.marked(ret, s) || found(ret, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return false
		}
		fn := v.callee(call)
		return fn != nil && soundsLikeFailure(fn.Name())
	})
}

// checkDropped searches for `_ = f()` and `x, _ := f()` that drop an error.
func (v *vet) checkDropped(n *ast.AssignStmt, s scope) {
	if !v.judged(s) || s.cleanup {
		return
	}
	for i, name := range n.Lhs {
		if !isBlank(name) {
			continue
		}
		value, t := n.Rhs[0], types.Type(nil)
		if len(n.Lhs) == len(n.Rhs) {
			value = n.Rhs[i]
			t = v.pass.TypesInfo.TypeOf(value)
		} else if tuple, ok := v.pass.TypesInfo.TypeOf(value).(*types.Tuple); ok && i < tuple.Len() {
			t = tuple.At(i).Type()
		}
		if !isError(t) || v.isNil(value) || v.harmless(value) {
			continue
		}
		if call, ok := ast.Unparen(value).(*ast.CallExpr); ok {
			v.report(ruleSwallowed, n, n, "the error of "+types.ExprString(call.Fun)+" is dropped")
		} else if obj := v.errorVar(value); obj != nil && !v.readOutside(obj, n, s.fn.body) { // otherwise it only satisfies the compiler
			v.report(ruleSwallowed, n, n, "this error is dropped")
		}
	}
}

// checkIgnored searches for `f()` where the last result of f is an error.
func (v *vet) checkIgnored(n *ast.ExprStmt, s scope) {
	call, ok := ast.Unparen(n.X).(*ast.CallExpr)
	if !ok || !v.judged(s) || s.cleanup {
		return
	}
	t := v.pass.TypesInfo.TypeOf(call)
	if tuple, ok := t.(*types.Tuple); ok && tuple.Len() > 0 {
		t = tuple.At(tuple.Len() - 1).Type()
	}
	if isError(t) && !v.harmless(call) && !v.isLog(call) {
		v.report(ruleSwallowed, n, n, "the error of "+types.ExprString(call.Fun)+" is dropped")
	}
}

func isBlank(e ast.Expr) bool {
	name, ok := e.(*ast.Ident)
	return ok && name.Name == "_"
}

// checkRecover searches for a deferred function that recovers from a panic and at most logs it.
func (v *vet) checkRecover(n *ast.DeferStmt, s scope) {
	if !v.judged(s) || s.nested {
		return
	}
	lit, ok := ast.Unparen(n.Call.Fun).(*ast.FuncLit)
	if !ok || !found(lit.Body, v.isRecover) || v.actsOnPanic(lit) {
		return
	}
	v.report(ruleSwallowed, n, n, "a panic ends here and is not reported: the caller gets the zero results, which mean success")
}

func (v *vet) isRecover(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	_, builtin := v.pass.TypesInfo.ObjectOf(id).(*types.Builtin)
	return ok && builtin && id.Name == "recover"
}

// actsOnPanic reports whether a deferred literal does more than recover and log: it assigns to a variable outside, calls
// a function that is not a logger, sends, or panics again.
func (v *vet) actsOnPanic(lit *ast.FuncLit) bool {
	return found(lit.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SendStmt:
			return true
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if !isBlank(left) && !v.declaredIn(left, lit) {
					return true
				}
			}
		case *ast.ExprStmt:
			call, ok := n.X.(*ast.CallExpr)
			return ok && !v.isRecover(call) && !v.isLog(call)
		}
		return false
	})
}

func (v *vet) declaredIn(e ast.Expr, lit *ast.FuncLit) bool {
	name, ok := e.(*ast.Ident)
	if !ok {
		return false
	}
	obj := v.pass.TypesInfo.ObjectOf(name)
	return obj != nil && obj.Pos() >= lit.Pos() && obj.Pos() < lit.End()
}
