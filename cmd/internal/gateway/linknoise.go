package gateway

import (
	"context"
	"log/slog"
	"sync/atomic"
)

// noise is what a server prints where only messages belong. It is kept from the client, counted, and its beginning is logged.
type noise struct {
	log   *slog.Logger
	name  string
	veil  *veil // over the secrets that the server was started with
	lines atomic.Int64
}

const (
	maxNoiseLines = 10 // that are logged
)

// hear takes one line, or the beginning of one.
func (n *noise) hear(ctx context.Context, line []byte, whole bool) {
	if n.lines.Add(1) > maxNoiseLines {
		return
	}
	n.log.WarnContext(ctx, "the server printed something that is no message",
		slog.String("upstream", n.name), slog.String("noise", excerpt(n.veil.over(line), whole, maxNoiseBytes)))
}
