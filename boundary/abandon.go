package boundary

import (
	"context"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/dialect"
	"github.com/candor-mcp/candor/wire"
)

// abandoned returns the error for a call whose handler was still running when the server stopped. It does not say whether the call
// took effect.
func abandoned() *candor.Error {
	return candor.New(candor.CodeUnavailable, "The server stopped before the call had finished.", candor.WithOrigin(candor.PartyServer, false),
		candor.WithRetry(candor.NoRetry()), candor.WithSuggestion(contract.CheckEffect))
}

// abandon records and counts a call whose handler has not returned, and returns the complete response to the call.
func (b *Boundary) abandon(ctx context.Context, x exchange, id wire.ID) []byte {
	if x.method != "tools/call" || b.o.Dialect.Carrier() == dialect.CarrierRPCError {
		return b.refuse(ctx, abandoned(), contract.VerdictLost, x).append(nil, id)
	}
	e := b.stamp(b.refine(ctx, abandoned(), &x), &x)
	m := emission{b: b, complete: paramsNewEra(x.params)}
	m.write(e)
	if audit := b.record(ctx, failure{call: x, verdict: contract.VerdictLost, err: e, envelope: m.envelope}); audit != nil {
		m.write(audit)
	}
	return resultMessage(id, encoded(m.result))
}

// abandonCalls answers the calls of a stream that have not finished in time. It stops after abandonTimeout if the client does not read.
func (c *streamConn) abandonCalls() {
	left := c.calls.takeAll()
	if len(left) == 0 {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, o := range left {
			streamCalls.remove(&o.extra)
			if c.send(c.b.abandon(c.ctx, o.exchange(), o.id)) != nil {
				return
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(abandonTimeout):
	case <-c.closed:
	}
}
