package gateway

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
)

// noise is what a server prints where only messages belong. It is kept from the client, counted, and its beginning is logged.
type noise struct {
	log   *slog.Logger
	name  string
	lines atomic.Int64
}

const (
	maxNoiseLines = 10  // that are logged
	maxNoiseBytes = 256 // of each
)

func (n *noise) hear(ctx context.Context, line []byte) {
	if n.lines.Add(1) > maxNoiseLines {
		return
	}
	// What is cut off by the scan's own bound is not looked at, so that a huge line costs no more than a long one.
	text := contract.Bound(string(line[:min(len(line), 4*maxNoiseBytes)]), maxNoiseBytes)
	n.log.WarnContext(ctx, "the server printed something that is no message", "upstream", n.name, "noise", text)
}

// stray settles an answer that belongs to no call. Nobody is told.
func (u *Upstream) stray(ctx context.Context, session string) {
	c := &Call{up: u, session: session, began: u.o.now(), attempt: 1}
	c.suppress(ctx, candor.New(candor.CodeStrayAnswer, "", candor.WithOrigin(candor.PartyServer, false)), contract.VerdictStray)
}
