package dialect

import (
	"github.com/candor-mcp/candor"
)

// symbolCode finds the code that a bare symbol means in a dialect. One that is not registered becomes UNKNOWN_TOOL_FAILURE:
// the reader must not fail on it, and what was said is kept by [withSaid].
func symbolCode(symbol, domain string) (code candor.Code, known bool) {
	if code, known = candor.LookupSymbol(symbol, domain); known {
		return code, true
	}
	return candor.CodeUnknownToolFailure, false
}

// withSaid keeps the identity that a peer gave and the catalogue does not know, as details.said.
func withSaid(e *candor.Error, said object) *candor.Error {
	origin := e.Origin()
	return e.With(candor.WithOrigin(origin.By, true), candor.WithDetails(e.Details().With("said", said.json())))
}
