package candorvet

import (
	"go/ast"
	"go/token"
	"go/types"
)

// namedError returns the last result of a function if it is a named error, so that a return statement may omit it, or nil.
func (f *function) namedError() *types.Var {
	if !f.returnsError() {
		return nil
	}
	last := f.sig.Results().At(f.sig.Results().Len() - 1)
	if last.Name() == "" || last.Name() == "_" {
		return nil
	}
	return last
}

// checkNakedReturn searches for a failure that a return statement without results returns as a success.
func (v *vet) checkNakedReturn(ret *ast.ReturnStmt, s scope) {
	failed := s.fn.namedError()
	if failed == nil || !v.isNilAt(failed, ret.Pos(), s.fn.body) {
		return
	}
	results := s.fn.sig.Results()
	for i := range results.Len() - 1 {
		result := results.At(i)
		if isResult(result.Type()) && v.marksFailure(s.fn.body, result) {
			return
		}
	}
	for i := range results.Len() - 1 {
		w, ok := v.lastWrite(results.At(i), ret.Pos())
		if !ok || w.value == nil {
			continue
		}
		if m := v.maskOf(w.value, s, w.at, 1); m != nil {
			v.report(MaskedError, ret, ret, m.what)
			return
		}
	}
}

// isNilAt reports whether an error result is nil at a position, as far as the code shows it: the last assignment is nil or missing,
// or the function returned if it was not nil.
func (v *vet) isNilAt(result types.Object, at token.Pos, body *ast.BlockStmt) bool {
	w, ok := v.lastWrite(result, at)
	if !ok || w.value != nil && v.isNil(w.value) {
		return true
	}
	return found(body, func(n ast.Node) bool {
		branch, ok := n.(*ast.IfStmt)
		if !ok || branch.Body.Pos() < w.at || branch.End() > at || len(branch.Body.List) == 0 {
			return false
		}
		cond, ok := ast.Unparen(branch.Cond).(*ast.BinaryExpr)
		if !ok || cond.Op != token.NEQ || v.comparedToNil(cond) != result {
			return false
		}
		_, returns := branch.Body.List[len(branch.Body.List)-1].(*ast.ReturnStmt)
		return returns
	})
}
