package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// checkBranch applies the rules logandcontinue and swallowed to `if err != nil { … }`.
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
		v.report(ruleSwallowed, n, n, "this error is tested and then ignored")
	case v.onlyLogs(n.Body) && s.fn.returnsError(): // a function without an error result, such as main, can only log
		v.report(ruleLogAndContinue, n, n, "this error is logged, and the function continues as if nothing happened")
	}
}

// ignores reports whether a branch is empty or only has `_ = err`.
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

// usedAfter reports whether the next use of a variable after a position is a read. A read at the beginning of a
// loop that contains the position is not seen.
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
		if w.at == next { // an assignment; but `err = wrap(err)` reads it first
			return w.value != nil && v.mentions(w.value, obj)
		}
	}
	return true
}

// isLog reports whether a call only writes a line for people. Fatal and Panic end the program.
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

// isLogger reports whether a package is a logger of the standard library or has the name of one: zap, zerolog, logrus, glog, klog.
func isLogger(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "log" || part == "slog" || part == "zap" || part == "logr" || part == "logrus" || strings.HasSuffix(part, "log") {
			return true
		}
	}
	return false
}
