package dialect

import (
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

// rpcIdentity has the parts of a JSON-RPC error that identify the failure.
type rpcIdentity struct {
	number         wire.Value // an integer of any size
	domain, symbol string
	aboutURI       bool // data is exactly {"uri": …}
}

// legacyResourceNotFound is the protocol's number before it became -32602 with a uri. It is read but never written.
const legacyResourceNotFound = -32002

// code returns the identified code. The number alone counts only without a domain and a symbol, because two servers may use one
// number for different failures.
func (i rpcIdentity) code() (c candor.Code, known bool) {
	switch {
	case i.domain != "" && i.symbol != "":
		c, known = candor.LookupCode(i.domain, i.symbol)
	case i.symbol != "":
		c, known = candor.LookupSymbol(i.symbol)
	case i.domain != "":
		if c, known = i.byNumber(); c.Domain() != i.domain {
			known = false
		}
	default:
		c, known = i.byNumber()
	}
	if known {
		return c, true
	}
	if i.negative() {
		return candor.CodeInternalError, false
	}
	return candor.CodeUnknownToolFailure, false
}

func (i rpcIdentity) byNumber() (candor.Code, bool) {
	n, ok := i.number.Int64()
	switch {
	case !ok:
		return candor.Code{}, false
	case n > 0:
		return candor.LookupNumber(int(n))
	case n == legacyResourceNotFound, n == int64(candor.CodeResourceNotFound.RPCNumber()) && i.aboutURI:
		return candor.CodeResourceNotFound, true
	}
	for c := range candor.Codes() {
		if int64(c.RPCNumber()) == n {
			return c, true
		}
	}
	return candor.Code{}, false
}

// negative reports whether the number is one of the protocol's own, or 0, which has no meaning.
func (i rpcIdentity) negative() bool {
	raw := string(i.number.Raw())
	return strings.HasPrefix(raw, "-") || raw == "0"
}

func (i rpcIdentity) said() object {
	o := object{}.raw("number", i.number.Raw())
	if i.domain != "" {
		o = o.text("domain", i.domain)
	}
	if i.symbol != "" {
		o = o.text("symbol", i.symbol)
	}
	return o
}

// isURI reports whether data is exactly {"uri": …}, by which clients recognise a missing resource.
func isURI(data wire.Value) bool {
	return data.Len() == 1 && data.Path("uri").Type() == wire.TypeString
}
