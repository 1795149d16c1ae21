package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Errors that may be dropped. The list is short on purpose, and every entry has a reason.

// neverFail are types whose writes are documented never to return an error, or only one that a caller cannot act on.
var neverFail = map[string]bool{
	"strings.Builder": true, "bytes.Buffer": true, "hash.Hash": true, "hash.Hash32": true, "hash.Hash64": true, "hash/maphash.Hash": true,
	// These fail when the reader has disconnected, and they are the only output.
	"net/http.ResponseWriter": true, "net/http.ResponseController": true,
	"math/rand.Rand": true, "math/rand/v2.Rand": true, "math/rand/v2.ChaCha8": true,
}

// tidying are methods that end or bound an operation after its result is known, so that a failure changes nothing.
var tidying = map[string]bool{
	"SetDeadline": true, "SetReadDeadline": true, "SetWriteDeadline": true,
	"Close": true, "CloseIdleConnections": true, "Rollback": true, "Stop": true, "Shutdown": true, "Release": true, "Unlock": true, "Kill": true,
}

// harmlessSource reports whether the value of an error variable at a position comes from a harmless call.
func (v *vet) harmlessSource(err types.Object, at token.Pos) bool {
	w, ok := v.lastWrite(err, at)
	return ok && w.value != nil && v.harmless(w.value)
}

// harmless reports whether the error of an expression may be dropped: it is never set, or the caller does not need it.
func (v *vet) harmless(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	fn := v.callee(call)
	if fn == nil {
		return false
	}
	name, path := fn.Name(), pathOf(fn)
	switch {
	case path == "fmt": // printing; Sscan and similar functions lose input
		return strings.HasPrefix(name, "Print") || strings.HasPrefix(name, "Fprint")
	case path == "crypto/rand" && name == "Read": // documented never to fail
		return true
	case path == "os" && (name == "Remove" || name == "RemoveAll"): // cleanup of files
		return true
	case path == "encoding/json" && (name == "Marshal" || name == "MarshalIndent"): // it fails for types, not for values
		return true
	case isTellingClient(name, path): // notifications have no answer
		return true
	case path == "io" && name == "WriteString" && len(call.Args) > 0:
		return isNeverFailing(v.pass.TypesInfo.TypeOf(call.Args[0]))
	}
	if recv := fn.Signature().Recv(); recv != nil {
		return tidying[name] || isNeverFailing(recv.Type()) || isNeverFailing(v.receiver(call))
	}
	return false
}

// isTellingClient reports whether a function sends a notification in one of the SDKs: progress, log messages, changes.
func isTellingClient(name, path string) bool {
	return ofSDK(path) && (strings.HasPrefix(name, "Notify") || strings.HasPrefix(name, "Send") || name == "Log" || name == "ResourceUpdated")
}

// receiver returns the type of x in x.f(). The method may belong to an embedded type: hash.Hash has its Write from io.Writer.
func (v *vet) receiver(call *ast.CallExpr) types.Type {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		return v.pass.TypesInfo.TypeOf(sel.X)
	}
	return nil
}

func isNeverFailing(t types.Type) bool {
	n := named(t)
	return n != nil && neverFail[pathOf(n)+"."+n.Name()]
}
