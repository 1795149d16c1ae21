package gateway

import (
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
)

// upstreamMember of details holds what an upstream's envelope said in the gateway's place: who failed, its ref and its time.
const upstreamMember = "upstream"

// attribute makes an error that was read from an upstream's answer the upstream's: its origin is the tool or the server, whatever the
// envelope claims, and ref and time are the gateway's own, under which the entry is found. What the envelope said instead is kept in
// details.upstream, so that a failure can be followed through several gateways; what an earlier gateway kept there is nested in it.
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
