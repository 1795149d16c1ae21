package dialect

import (
	"github.com/candor-mcp/candor/wire"
)

// Detect returns the dialect that a value is written in, judged by its own marks alone: a bare envelope, a carrier, or a
// JSON-RPC response. It is false for what bears the marks of none, which says nothing about whether it is a failure:
// text and the shapes of other servers are not dialects.
//
// A result whose blocks are in a dialect is in that dialect, though it holds the canonical error as well; one that holds only
// the canonical error is candor.
func Detect(v wire.Value) (Dialect, bool) {
	if v.Type() != wire.TypeObject {
		return nil, false
	}
	if isRPCFailure(v) {
		return rpcError{}, true
	}
	if result, ok := resultOf(v); ok {
		return detectResult(result)
	}
	for _, d := range []Dialect{native{}, systemError{}, toolError{}, dual{}, dual{unified: true}, sep3313{}, problem{}} {
		if d.marked(v) {
			return d, true
		}
	}
	return nil, false
}

// isRPCFailure: in a JSON-RPC response any error is the dialect's to read; a bare object with a number and a message needs
// the members of the taxonomy, because such objects are common.
func isRPCFailure(v wire.Value) bool {
	if inner := v.Path("error"); (rpcError{}).marked(inner) {
		return true
	}
	data := v.Path("data")
	_, embedded := data.Get(MetaKey)
	named := data.Path("domain").Type() == wire.TypeString && data.Path("symbol").Type() == wire.TypeString
	return (rpcError{}).marked(v) && (named || embedded)
}

func detectResult(result wire.Value) (Dialect, bool) {
	for _, d := range []Dialect{systemError{}, toolError{}, dual{}, dual{unified: true}} {
		if _, _, ok := findEnvelope(result, d.marked); ok {
			return d, true
		}
	}
	_, failure := result.Path("_meta").Get(ToolFailureKey)
	_, embedded := result.Path("_meta").Get(MetaKey)
	switch {
	case failure && (sep3313{}).marked(result.Path("_meta", ToolFailureKey)):
		return sep3313{}, true
	case embedded, (native{}).marked(result.Path("structuredContent")):
		return native{}, true
	default:
		return nil, false
	}
}
