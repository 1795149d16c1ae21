package contract

import (
	"encoding/json"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/denial"
	"github.com/candor-mcp/candor/internal/redact"
	"github.com/candor-mcp/candor/wire"
)

// denialIn returns the denial in a failing result or in the data of a JSON-RPC error, or the absent value. A reason is required.
func denialIn(holder wire.Value) wire.Value {
	for _, at := range []wire.Value{holder.Path("_meta", denial.Key), holder.Path("data", "_meta", denial.Key), holder.Path("data", denial.Key)} {
		if reason, _ := at.Path("reason").Str(); reason != "" {
			return at
		}
	}
	return wire.Value{}
}

// readDenial finds that the server denied the request.
func readDenial(h *answerText) Evidence {
	if !h.denial.Present() {
		return Evidence{}
	}
	return found(candor.CodePermissionDenied, strengthSaid, "the server's authorization denial")
}

// denialOptions returns what a denial says about the error. Nothing was executed; the words are the server's.
func denialOptions(denied wire.Value, details candor.Details) []candor.Option {
	said := details.Get("said")
	if words := denialWords(denied); words != "" {
		said = said.With("suggestion", words)
	}
	details = details.With("denial", json.RawMessage(denied.Raw())).With("effect", "none")
	if !said.IsZero() {
		details = details.With("said", said)
	}
	options := []candor.Option{candor.WithOrigin(candor.PartyServer, false), candor.WithRetry(candor.NoRetry()), candor.WithDetails(details)}
	switch remediation, _ := denied.Path("remediation").Str(); remediation {
	case "available":
		options = append(options, candor.WithSuggestion("Ask the user to grant what the server asks for, then make a new call."))
	case "unavailable":
		options = append(options, candor.WithSuggestion("Choose something that is allowed. The server says that this cannot be granted."))
	}
	return options
}

// denialWords returns the hints of a denial as one line: their types, and the texts and URLs in them.
func denialWords(denied wire.Value) string {
	hints := denied.Path("remediationHints")
	if !hints.Present() {
		hints = denied.Path("hints")
	}
	var list []string
	for hint := range hints.Elements() {
		var words []string
		for _, name := range []string{"type", "title", "message", "description", "url", "scope"} {
			if text, _ := hint.Path(name).Str(); text != "" {
				words = append(words, text)
			}
		}
		if text, _ := hint.Str(); text != "" {
			words = append(words, text)
		}
		if len(words) > 0 && len(list) < maxHints {
			list = append(list, strings.Join(words, " "))
		}
	}
	return candor.Public(redact.FoldLines(strings.Join(list, "; ")), maxHintBytes)
}

const (
	maxHints     = 5
	maxHintBytes = 512
)
