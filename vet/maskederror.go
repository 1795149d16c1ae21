package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// The kinds of failures that are returned as a success.
const (
	maskedObject = "an object that describes a failure is returned as a success, so the client believes the call worked"
	maskedText   = "a text that describes a failure is returned as a success, so the client believes the call worked"
	maskedCause  = "the text of an error is returned as a success, so the client believes the call worked"
)

// failureWords matches the beginning of a text that cannot be the result of a successful call.
var failureWords = regexp.MustCompile(`(?i)^[^\pL\pN]*(error|failed|failure|fatal|exception)( *[:!]| +-| +to\b)`)

// maskedIn returns the failure that a return statement with a nil error describes, or nil.
func (v *vet) maskedIn(ret *ast.ReturnStmt, s scope) string {
	if v.marked(ret, s) { // one of the results reports the failure to the client
		return ""
	}
	for _, result := range ret.Results[:len(ret.Results)-1] {
		if m := v.maskOf(result, s, ret.Pos(), 0); m != "" {
			return m
		}
	}
	return ""
}

// maskOf searches for a failure in one result of a handler.
func (v *vet) maskOf(e ast.Expr, s scope, at token.Pos, depth int) string {
	e = ast.Unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = ast.Unparen(u.X)
	}
	switch e := e.(type) {
	case *ast.Ident:
		obj := v.pass.TypesInfo.ObjectOf(e)
		if w, ok := v.lastWrite(obj, at); ok && w.value != nil && depth == 0 {
			if m := v.maskOf(w.value, s, w.at, depth+1); m != "" {
				return m
			}
		}
		if err := v.errorInEntries(obj, at, s); err != nil {
			return maskedObject
		}
	case *ast.CompositeLit:
		if isResult(v.pass.TypesInfo.TypeOf(e)) {
			return v.maskOfResult(e, s)
		}
		return v.maskOfObject(e, s)
	case *ast.CallExpr:
		return v.maskOfCall(e, s, at, depth)
	}
	return ""
}

// maskOfResult checks a literal result of the SDK.
func (v *vet) maskOfResult(lit *ast.CompositeLit, s scope) string {
	for _, field := range lit.Elts {
		kv, ok := field.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if name, ok := kv.Key.(*ast.Ident); ok && name.Name == "IsError" && v.constant(kv.Value) != "false" {
			return ""
		}
	}
	for _, field := range lit.Elts {
		if m := v.wordsIn(field, s); m != "" {
			return m
		}
	}
	return ""
}

// wordsIn searches for descriptions of failures in the content of a result.
func (v *vet) wordsIn(content ast.Node, s scope) string {
	m := ""
	ast.Inspect(content, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if name, ok := n.Key.(*ast.Ident); ok && name.Name == "Text" && m == "" {
				m = v.maskOfText(n.Value, s)
			}
		case *ast.CallExpr: // mcp.NewTextContent
			if fn := v.callee(n); m == "" && fn != nil && ofSDK(pathOf(fn)) && len(n.Args) > 0 {
				m = v.maskOfText(n.Args[0], s)
			}
		}
		return m == ""
	})
	return m
}

// maskOfText checks a text for the client: whether it contains an error of this branch, or begins like a failure.
func (v *vet) maskOfText(e ast.Expr, s scope) string {
	if err := v.errorIn(e, s, 0); err != nil {
		return maskedCause
	}
	if failureWords.MatchString(v.firstWords(e)) {
		return maskedText
	}
	return ""
}

// maxFollowed bounds the number of variables through which an error is followed.
const maxFollowed = 5

// errorIn returns the error of this branch that an expression uses: directly, through variables, or as a part of encoded JSON.
func (v *vet) errorIn(e ast.Expr, s scope, depth int) types.Object {
	for _, err := range slices.Backward(s.nonNil) {
		if v.mentions(e, err) {
			return err
		}
	}
	if depth >= maxFollowed {
		return nil
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		obj := v.pass.TypesInfo.ObjectOf(e)
		if w, ok := v.lastWrite(obj, e.Pos()); ok && w.value != nil {
			if err := v.errorIn(w.value, s, depth+1); err != nil {
				return err
			}
		}
		return v.errorInEntries(obj, e.Pos(), s)
	case *ast.CallExpr:
		fn := v.callee(e)
		if len(e.Args) > 0 && (v.isConversion(e) || isFunc(fn, "encoding/json", "Marshal") || isFunc(fn, "encoding/json", "MarshalIndent")) {
			return v.errorIn(e.Args[0], s, depth+1)
		}
	}
	return nil
}

// isConversion reports whether call is a conversion such as string(b).
func (v *vet) isConversion(call *ast.CallExpr) bool {
	return len(call.Args) == 1 && v.pass.TypesInfo.Types[call.Fun].IsType()
}

// errorInEntries returns the error of this branch that was put into a map before a position, as in m["error"] = err.Error().
func (v *vet) errorInEntries(obj types.Object, at token.Pos, s scope) types.Object {
	if obj == nil || s.fn == nil {
		return nil
	}
	if _, ok := obj.Type().Underlying().(*types.Map); !ok {
		return nil
	}
	var err types.Object
	found(s.fn.body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if !ok || set.Pos() >= at || len(set.Lhs) != 1 || len(set.Rhs) != 1 {
			return false
		}
		entry, ok := set.Lhs[0].(*ast.IndexExpr)
		if !ok || !v.mentions(entry.X, obj) || !isErrorMember(v.keyOf(entry.Index)) {
			return false
		}
		for _, one := range slices.Backward(s.nonNil) {
			if err == nil && v.mentions(set.Rhs[0], one) {
				err = one
			}
		}
		return err != nil
	})
	return err
}

// isErrorMember reports whether key is the name of a member for an error.
func isErrorMember(key string) bool {
	switch strings.ToLower(strings.Trim(key, `"`)) {
	case "error", "err", "errormessage", "error_message", "errormsg":
		return true
	}
	return false
}

// firstWords returns the constant text at the beginning of an expression, or "".
func (v *vet) firstWords(e ast.Expr) string {
	e = ast.Unparen(e)
	if c := v.constant(e); c != "" {
		return c
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return v.firstWords(e.X)
	case *ast.CallExpr:
		if fn := v.callee(e); (isFunc(fn, "fmt", "Sprintf") || isFunc(fn, "fmt", "Sprint") || isFunc(fn, "fmt", "Sprintln")) && len(e.Args) > 0 {
			return v.firstWords(e.Args[0])
		}
	}
	return ""
}

// maskOfObject checks a struct or map that a handler returns: {"ok": false, "error": "…"}, or a member error that is set.
func (v *vet) maskOfObject(lit *ast.CompositeLit, s scope) string {
	denies, errorMember := false, ast.Expr(nil)
	for _, element := range lit.Elts {
		kv, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		switch key := strings.ToLower(strings.Trim(v.keyOf(kv.Key), `"`)); {
		case key == "ok", key == "success", key == "succeeded":
			denies = denies || v.constant(kv.Value) == "false"
		case isErrorMember(key):
			if c := v.constant(kv.Value); c != `""` && !v.isNil(kv.Value) {
				errorMember = kv.Value
			}
		}
	}
	if errorMember == nil {
		return ""
	}
	err := v.errorIn(errorMember, s, 0)
	if err == nil && !denies {
		return ""
	}
	return maskedObject
}

func (v *vet) keyOf(key ast.Expr) string {
	if name, ok := key.(*ast.Ident); ok && v.constant(key) == "" {
		return name.Name
	}
	return v.constant(key)
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// maskOfCall checks a result that a function builds: one of mcp-go, or a helper of this package that never sets isError.
func (v *vet) maskOfCall(call *ast.CallExpr, s scope, at token.Pos, depth int) string {
	fn := v.callee(call)
	switch {
	case fn == nil || len(call.Args) == 0:
		return ""
	case pathOf(fn) == mcpGoPath+"/mcp":
		return v.maskOfBuilder(fn.Name(), call, s, at, depth)
	case v.decls[fn] != nil && isResult(v.pass.TypesInfo.TypeOf(call)):
		for _, arg := range call.Args {
			if m := v.maskOfText(arg, s); m != "" {
				return m
			}
		}
	}
	return ""
}

// maskedByHelper checks `return ok("Error: " + err.Error())`: all results of the handler come from a helper of this package that
// never sets isError and never returns an error, and one of its arguments describes a failure. A function that is itself a handler is
// checked at its declaration.
func (v *vet) maskedByHelper(call *ast.CallExpr, s scope) string {
	decl := v.declOf(call)
	if decl == nil || decl.Body == nil {
		return ""
	}
	fn := v.callee(call)
	if isHandler(fn.Signature()) || !v.onlySucceeds(decl, fn.Signature()) {
		return ""
	}
	for _, arg := range call.Args {
		if !isString(v.pass.TypesInfo.TypeOf(arg)) {
			continue
		}
		if m := v.maskOfText(arg, s); m != "" {
			return m
		}
	}
	return ""
}

// onlySucceeds reports whether every return statement of a function returns a result of the SDK first, and nil as its error.
func (v *vet) onlySucceeds(decl *ast.FuncDecl, sig *types.Signature) bool {
	n := sig.Results().Len()
	if n < 2 || !isResult(sig.Results().At(0).Type()) || !isError(sig.Results().At(n-1).Type()) {
		return false
	}
	returns, failing := 0, false
	ast.Inspect(decl.Body, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			returns++
			failing = failing || len(node.Results) != n || !v.isNil(node.Results[n-1]) || v.marked(node, scope{fn: &function{sig: sig, body: decl.Body}})
		}
		return true
	})
	return returns > 0 && !failing
}

// maskOfBuilder checks a call of mcp.NewToolResult….
func (v *vet) maskOfBuilder(name string, call *ast.CallExpr, s scope, at token.Pos, depth int) string {
	switch name {
	case "NewToolResultText":
		return v.maskOfText(call.Args[0], s)
	case "NewToolResultStructured", "NewToolResultStructuredOnly", "NewToolResultJSON":
		if m := v.maskOf(call.Args[0], s, at, depth); m != "" {
			return m
		}
		if len(call.Args) > 1 {
			return v.maskOfText(call.Args[1], s)
		}
	}
	return ""
}

// marked reports whether a return statement returns a result with isError, as far as the package shows it: for a builder of another
// package the name decides.
func (v *vet) marked(ret *ast.ReturnStmt, s scope) bool {
	return v.marksFailure(ret, nil) || found(ret, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if !isResult(v.pass.TypesInfo.TypeOf(n)) {
				return false
			}
			if decl := v.declOf(n); decl != nil {
				return v.marksFailure(decl.Body, nil)
			}
			fn := v.callee(n)
			return fn != nil && soundsLikeFailure(fn.Name())
		case *ast.Ident:
			obj, ok := v.pass.TypesInfo.ObjectOf(n).(*types.Var)
			return ok && isResult(obj.Type()) && v.marksFailure(s.fn.body, obj)
		}
		return false
	})
}

func soundsLikeFailure(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "err") || strings.Contains(name, "fail")
}

// marksFailure reports whether code sets isError: with the field, SetError or NewToolResultError…. If of is not nil,
// only fields and methods of that variable count.
func (v *vet) marksFailure(n ast.Node, of types.Object) bool {
	return found(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if n.Sel.Name != "IsError" && n.Sel.Name != "SetError" && !strings.HasPrefix(n.Sel.Name, "NewToolResultError") {
				return false
			}
			x, ok := n.X.(*ast.Ident)
			return of == nil || ok && v.pass.TypesInfo.ObjectOf(x) == of
		case *ast.KeyValueExpr:
			name, ok := n.Key.(*ast.Ident)
			return of == nil && ok && name.Name == "IsError" && v.constant(n.Value) != "false"
		}
		return false
	})
}
