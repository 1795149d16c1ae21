package candorvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// checkBranch looks at `if err != nil { … }` for both rules about errors that go nowhere.
func (v *vet) checkBranch(n *ast.IfStmt, s scope) {
	if !v.judged(s) || s.cleanup {
		return
	}
	cond, ok := ast.Unparen(n.Cond).(*ast.BinaryExpr)
	if !ok || cond.Op != token.NEQ {
		return
	}
	err := v.comparedToNil(cond)
	if err == nil || v.harmlessSource(err, n.Body.Pos()) {
		return
	}
	switch {
	case v.returnsSuccess(n, err, s):
	case n.Else != nil || v.usedAfter(err, n.End(), s.fn.body):
	case v.ignores(n.Body, err):
		v.report(Swallowed, n, n, "this error is tested and then ignored")
	case v.onlyLogs(n.Body) && s.fn.returnsError(): // who cannot return it, as main, has no better place than the log
		v.report(LogAndContinue, n, n, "this error is logged, and the function goes on as if nothing happened")
	}
}

// ignores reports whether a branch does nothing, or nothing but `_ = err`.
func (v *vet) ignores(body *ast.BlockStmt, err types.Object) bool {
	for _, stmt := range body.List {
		assign, ok := stmt.(*ast.AssignStmt)
		if !ok || len(assign.Rhs) != 1 || v.errorVar(assign.Rhs[0]) != err || !isBlank(assign.Lhs[0]) {
			return false
		}
	}
	return true
}

func (v *vet) onlyLogs(body *ast.BlockStmt) bool {
	for _, stmt := range body.List {
		e, ok := stmt.(*ast.ExprStmt)
		if !ok {
			return false
		}
		if call, ok := e.X.(*ast.CallExpr); !ok || !v.isLog(call) {
			return false
		}
	}
	return true
}

// usedAfter reports whether the next thing that happens to a variable after a place is that it is read. In a branch of a loop
// the reader may stand above, which is not seen.
func (v *vet) usedAfter(obj types.Object, after token.Pos, body *ast.BlockStmt) bool {
	if body.End() <= after {
		return false
	}
	next := token.NoPos
	ast.Inspect(body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if ok && id.Pos() > after && v.pass.TypesInfo.ObjectOf(id) == obj && (!next.IsValid() || id.Pos() < next) {
			next = id.Pos()
		}
		return true
	})
	if !next.IsValid() {
		return false
	}
	for _, w := range v.writes[obj] {
		if w.at == next { // written; but `err = wrap(err)` reads it first
			return w.value != nil && v.mentions(w.value, obj)
		}
	}
	return true
}

// isLog reports whether a call writes a line for people and does nothing else. Fatal and Panic end the program.
func (v *vet) isLog(call *ast.CallExpr) bool {
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && (id.Name == "println" || id.Name == "print") {
		return true
	}
	fn := v.callee(call)
	if fn == nil {
		return false
	}
	name, path := fn.Name(), pathOf(fn)
	if strings.HasPrefix(name, "Fatal") || strings.HasPrefix(name, "Panic") || strings.HasPrefix(name, "Exit") {
		return false
	}
	if path == "fmt" {
		return strings.HasPrefix(name, "Print") || strings.HasPrefix(name, "Fprint") && len(call.Args) > 0 && v.isStandardStream(call.Args[0])
	}
	if isLogger(path) || ofSDK(path) && (name == "Log" || strings.HasPrefix(name, "SendLog")) {
		return true
	}
	return strings.HasPrefix(strings.ToLower(name), "log") && fn.Signature().Results().Len() == 0
}

func (v *vet) isStandardStream(e ast.Expr) bool {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	obj := v.pass.TypesInfo.ObjectOf(sel.Sel)
	return pathOf(obj) == "os" && (obj.Name() == "Stderr" || obj.Name() == "Stdout")
}

// isLogger knows the loggers of the standard library and those that are called by their trade: zap, zerolog, logrus, glog, klog….
func isLogger(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "log" || part == "slog" || part == "zap" || part == "logr" || part == "logrus" || strings.HasSuffix(part, "log") {
			return true
		}
	}
	return false
}
