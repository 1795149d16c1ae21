package dialect

import (
	"github.com/candor-mcp/candor"
)

// symbolCode finds the code for a bare symbol in a dialect. An unregistered symbol becomes UNKNOWN_TOOL_FAILURE, so that reading
// does not fail, and [withSaid] keeps the symbol.
func symbolCode(symbol, domain string) (code candor.Code, known bool) {
	if code, known = candor.LookupSymbol(symbol, domain); known {
		return code, true
	}
	return candor.CodeUnknownToolFailure, false
}

// withSaid keeps an identity that the catalogue does not know as details.said.
func withSaid(e *candor.Error, said object) *candor.Error {
	origin := e.Origin()
	return e.With(candor.WithOrigin(origin.By, true), candor.WithDetails(e.Details().With("said", said.json())))
}
