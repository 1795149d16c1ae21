// Package denial has the form in which a server says that it denied a request and executed nothing: SEP-2643, a proposal.
package denial

import (
	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/splice"
)

// Key is the member of _meta of a result, or of data._meta of a JSON-RPC error.
const Key = "io.modelcontextprotocol/authorization"

// AddTo returns a document with the denial that belongs to a refusal with HTTP status 401 or 403; path leads to the data of its JSON-RPC
// error. For another code it returns the document unchanged.
func AddTo(document []byte, code candor.Code, path ...string) []byte {
	remediation := ""
	switch code {
	case candor.CodeTokenRequired:
		remediation = "available" // by a token; the header WWW-Authenticate asks for it
	case candor.CodeHostRefused, candor.CodeOriginRefused:
		remediation = "unavailable"
	default:
		return document
	}
	out, err := splice.SetMember(nil, document, append(path, "_meta", Key), []byte(`{"reason":"insufficient_authorization","remediation":"`+remediation+`"}`))
	if err != nil {
		return document
	}
	return out
}
