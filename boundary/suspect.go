package boundary

import (
	"context"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/wire"
)

// maxSuspect bounds the answers that are read again: what a tool says of its own failure is short.
const maxSuspect = 256 << 10

// suspects reports whether an answer to a method is read for failures that leave as successes.
func (b *Boundary) suspects(method string, size int) bool {
	return b.o.Suspected && method == "tools/call" && size <= maxSuspect
}

// suspect records and counts a successful answer that looks like a failure. The answer leaves as it is: what a tool returns may be
// data about errors. Request may be nil.
func (b *Boundary) suspect(ctx context.Context, request *wire.Message, response []byte, x exchange) {
	asked := contract.Exchange{Response: wire.Parse(response, wire.Limits{AllowLoneSurrogates: true}), Request: request}
	if found := contract.Classify(&asked); found.Certainty == contract.Suspected && found.Verdict == contract.VerdictMasked {
		b.suppress(ctx, contract.Interpret(&asked, found), found.Verdict, x)
	}
}
