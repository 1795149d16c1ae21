package dialect

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// Detect returns the dialect of a value, which may be a bare envelope, a carrier, or a JSON-RPC response. It looks only at the
// members that identify a dialect. It returns false if no dialect matches; the value may still be a failure, because plain text
// and the shapes of other servers are not dialects.
//
// A result whose blocks are in a dialect is in that dialect, even if it also holds the canonical error; a result that holds only
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

// isRPCFailure reports whether v is an error of the rpc dialect. A number and a message are not enough, because any server sends
// them. The dialect also has domain and symbol; in a JSON-RPC response one of its numbers is enough.
func isRPCFailure(v wire.Value) bool {
	inner, isResponse := v.Get("error")
	if !isResponse {
		inner = v
	}
	if !(rpcError{}).marked(inner) {
		return false
	}
	data := inner.Path("data")
	if _, embedded := data.Get(MetaKey); embedded {
		return true
	}
	if data.Path("domain").Type() == wire.TypeString && data.Path("symbol").Type() == wire.TypeString {
		return true
	}
	number, _ := inner.Path("code").Int64()
	_, registered := candor.LookupNumber(int(number))
	return isResponse && registered && number > 0 && number < 1<<31
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
