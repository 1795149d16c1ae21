package gateway

import (
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// inputSchema returns the schema of the called tool as its server lists it, the zero Value if it is not known. It is read again for each failure;
// successes do not need it.
func (c *Call) inputSchema() wire.Value {
	list := c.tools.current()
	if list == nil || list.tools[c.tool] == nil {
		return wire.Value{}
	}
	schema, err := wire.ParseValue([]byte(list.tools[c.tool].input), wire.Limits{})
	if err != nil {
		return wire.Value{}
	}
	return schema
}

// upstreamMember of details holds what an upstream's envelope said in the gateway's place: who failed, its ref and its time.
const upstreamMember = "upstream"

// attribute makes an error that was read from an upstream's answer the upstream's: its origin is the tool or the server, whatever the
// envelope claims, and ref and time are the gateway's own, under which the entry is found. What the envelope said instead is kept in
// details.upstream, so that a failure can be followed through several gateways; what an earlier gateway kept there is nested in it.
func attribute(e *candor.Error, x *contract.Exchange) *candor.Error {
	if e == nil {
		return nil
	}
	theirs := map[string]any{}
	by := e.Origin().By
	if by != candor.PartyTool && by != candor.PartyServer {
		theirs["by"], by = string(by), candor.PartyServer
	}
	if e.Ref() != "" && e.Ref() != x.Ref {
		theirs["ref"] = e.Ref()
	}
	if at := e.Time(); !at.IsZero() && !at.Equal(x.At.Truncate(time.Millisecond)) {
		theirs["timestamp"] = at.Format(candor.TimeLayout)
	}
	if len(theirs) == 0 {
		return e
	}
	if before := e.Details().Get(upstreamMember); !before.IsZero() {
		theirs[upstreamMember] = before
	}
	return e.With(candor.WithOrigin(by, e.Origin().Inferred), candor.WithRef(x.Ref), candor.WithTime(x.At),
		candor.WithDetails(e.Details().With(upstreamMember, theirs)))
}
