package contract

import (
	"encoding/json"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/internal/foreign"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// details returns the peer's facts: the failing fields, the data of a JSON-RPC error, and under "said" the facts found in its
// text.
func (h *heard) details(x *Exchange) candor.Details {
	var d candor.Details
	if said := saidFacts(&h.Said); said != nil {
		d = d.With("said", said)
	}
	if h.data.Present() {
		d = d.With("data", json.RawMessage(h.data.Raw()))
	}
	if flaw := x.Response.Malformation().Flaw; !x.Lost && flaw != wireflaw.None {
		d = d.With("malformation", flaw.String())
	}
	if len(h.Issues) > 0 {
		d = d.With("issues", h.Issues)
	}
	return d
}

// peerData returns the data of a JSON-RPC error, to which the peer's advice may refer, such as the supported versions. It is
// absent if it is empty or holds Candor's envelope.
func peerData(object wire.Value) wire.Value {
	data := object.Path("data")
	if !says(data) || data.Path(dialect.MetaKey).Present() {
		return wire.Value{}
	}
	return data
}

// saidFacts returns the facts found in the peer's text, or nil.
func saidFacts(s *foreign.Said) map[string]any {
	var facts map[string]any
	put := func(name string, value any, known bool) {
		if !known {
			return
		}
		if facts == nil {
			facts = make(map[string]any)
		}
		facts[name] = value
	}
	put("symbols", s.Symbols, len(s.Symbols) > 0)
	put("number", s.Number, s.Numbered)
	put("status", s.Status, s.Status != 0)
	put("errno", s.Errno, s.Errno != "")
	put("exception", s.Exception, s.Exception != "")
	put("requestId", s.RequestID, s.RequestID != "")
	put("retryAfterMs", s.RetryAfter.Milliseconds(), s.Delayed)
	if !s.RetryAt.IsZero() {
		put("retryAt", s.RetryAt.UTC().Format(candor.TimeLayout), true)
	}
	if s.Retryable != nil {
		put("retryable", *s.Retryable, true)
	}
	return facts
}
