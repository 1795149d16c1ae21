package gateway

import (
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
)

// upstreamMember is the member of details that holds the origin, ref and time from an upstream's envelope.
const upstreamMember = "upstream"

// attribute assigns an error that was read from an upstream's answer to that upstream. The origin becomes the tool or the server,
// whatever the envelope claims, and ref and time become the gateway's, because its entry is found by them. The original values
// are kept in details.upstream, so that a failure can be traced through several gateways; values kept there by an earlier gateway
// are nested.
func attribute(e *candor.Error, x *contract.Exchange) *candor.Error {
	if e == nil {
		return nil
	}
	by, at := e.Origin().By, e.Time()
	otherParty := by != candor.PartyTool && by != candor.PartyServer
	otherRef := e.Ref() != "" && e.Ref() != x.Ref
	otherTime := !at.IsZero() && !at.Equal(x.At.Truncate(time.Millisecond))
	if !otherParty && !otherRef && !otherTime {
		return e
	}
	theirs := map[string]any{}
	if otherParty {
		theirs["by"], by = string(by), candor.PartyServer
	}
	if otherRef {
		theirs["ref"] = e.Ref()
	}
	if otherTime {
		theirs["timestamp"] = at.Format(candor.TimeLayout)
	}
	if before := e.Details().Get(upstreamMember); !before.IsZero() {
		theirs[upstreamMember] = before
	}
	return e.With(candor.WithOrigin(by, e.Origin().Inferred), candor.WithRef(x.Ref), candor.WithTime(x.At),
		candor.WithDetails(e.Details().With(upstreamMember, theirs)))
}
