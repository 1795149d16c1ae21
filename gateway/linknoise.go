package gateway

import (
	"bytes"
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
	maxNoiseScan  = 4 << 10
)

// hear takes one line, or the beginning of one.
func (n *noise) hear(ctx context.Context, line []byte, whole bool) {
	if n.lines.Add(1) > maxNoiseLines {
		return
	}
	if len(line) > maxNoiseScan {
		line, whole = line[:maxNoiseScan], false
	}
	if !whole { // half a secret does not look like one
		line = line[:bytes.LastIndexByte(line, ' ')+1]
	}
	n.log.WarnContext(ctx, "the server printed something that is no message",
		slog.String("upstream", n.name), slog.String("noise", contract.Bound(string(line), maxNoiseBytes)))
}

// stray settles an answer that belongs to no call. Nobody is told.
func (u *Upstream) stray(ctx context.Context, session string) {
	c := &Call{up: u, session: session, began: u.o.now(), attempt: 1}
	c.suppress(ctx, candor.New(candor.CodeStrayAnswer, "", candor.WithOrigin(candor.PartyServer, false)), contract.VerdictStray)
}
