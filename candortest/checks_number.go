package candortest

import (
	"fmt"
	"strings"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

var numberChecks = []check{
	{Rule: Rule{ID: "error-code-integer", Level: Protocol,
		Title: "The code of a JSON-RPC error is an integer.",
		Why:   "Clients decode it as one; any other type makes the whole answer unreadable to them.",
		Want:  `"code":-32602, not "-32602" and not -32602.0.`,
		Fix:   "Use integers; put symbolic codes into data."},
		run: func(v *visit) ruling {
			return v.eachFailure(protocolError, func(f failure) string {
				if _, ok := f.code(); !ok {
					return "error.code is not an integer"
				}
				return ""
			})
		}},
	{Rule: Rule{ID: "error-code-allowed", Level: Manners,
		Title: "The code of a JSON-RPC error is a standard one or lies outside -32768 to -32000, and is not 0.",
		Why:   "0 means nothing, and reserved numbers mean something else to the next client.",
		Want:  "One of the five standard codes, one of MCP's own, or an application's.",
		Fix:   "Map every error to a number on purpose; see the allocation policy of MCP 2026-07-28."},
		run: func(v *visit) ruling { return v.eachFailure(protocolError, v.badNumber) }},
	{Rule: Rule{ID: "error-message", Level: Protocol,
		Title: "The message of a JSON-RPC error is one concise sentence.",
		Why:   "It is shown to people and models in one line; JSON dumps and stacks belong elsewhere.",
		Want:  "A string, not blank, on one line, of at most 512 bytes.",
		Fix:   "Write a sentence and put the rest into data."},
		run: func(v *visit) ruling {
			return v.eachFailure(protocolError, func(f failure) string {
				text, ok := f.msg.Error().Path("message").Str()
				switch {
				case !ok:
					return "error.message is not a string"
				case strings.TrimSpace(text) == "":
					return "error.message is blank"
				case strings.ContainsAny(text, "\r\n"):
					return "error.message has several lines"
				case len(text) > 512:
					return fmt.Sprintf("error.message has %d bytes", len(text))
				}
				return ""
			})
		}},
}

// badNumber describes what the contract's allocation policy forbids about the error code. The older era still has -32002 for resources.
func (v *visit) badNumber(f failure) string {
	code, ok := f.code()
	if !ok || v.era == Era2025 && code == -32002 {
		return ""
	}
	response := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"x"}}`, code)
	for _, violation := range contract.Violations(&contract.Exchange{Response: wire.Parse(response, wire.Limits{})}) {
		return violation.Message
	}
	return ""
}
