package contract

import (
	"encoding/json"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/dialect/foreign"
	"github.com/candor-mcp/candor/wire"
)

// detailsOf keeps the peer's facts as details: the failing fields, and under "said" what machines could read in its words.
func detailsOf(x *Exchange, s *foreign.Said) candor.Details {
	var d candor.Details
	if said := saidFacts(s); len(said) > 0 {
		d = d.With("said", said)
	}
	if data := peerData(x); data.Present() {
		d = d.With("data", json.RawMessage(data.Raw()))
	}
	if flaw := x.Response.Malformation().Flaw; !x.Lost && flaw != wire.FlawNone {
		d = d.With("malformation", flaw.String())
	}
	if len(s.Issues) > 0 {
		d = d.With("issues", s.Issues)
	}
	return d
}

// peerData is the data of a JSON-RPC error: what the peer's advice may refer to, such as the supported versions. An error
// object of ours in it is not data.
func peerData(x *Exchange) wire.Value {
	if x.Lost || x.Response.Shape() != wire.KindError {
		return wire.Value{}
	}
	data := x.Response.Error().Path("data")
	if !says(data) || data.Path(dialect.MetaKey).Present() {
		return wire.Value{}
	}
	return data
}

func saidFacts(s *foreign.Said) map[string]any {
	facts := make(map[string]any)
	put := func(name string, value any, known bool) {
		if known {
			facts[name] = value
		}
	}
	put("symbols", s.Symbols, len(s.Symbols) > 0)
	put("number", s.Number, s.Numbered)
	put("status", s.Status, s.Status != 0)
	put("errno", s.Errno, s.Errno != "")
	put("exception", s.Exception, s.Exception != "")
	put("requestId", s.RequestID, s.RequestID != "")
	put("retryAfterMs", s.RetryAfter.Milliseconds(), s.Delayed)
	if !s.RetryAt.IsZero() {
		facts["retryAt"] = s.RetryAt.UTC().Format(candor.TimeLayout)
	}
	if s.Retryable != nil {
		facts["retryable"] = *s.Retryable
	}
	return facts
}
