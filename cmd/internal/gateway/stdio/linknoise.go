package stdio

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

// noise is what a server prints where only messages belong. It is kept from the client, counted, and its beginning is logged.
type noise struct {
	log   *slog.Logger
	name  string
	veil  *gateway.SecretFilter // over the secrets that the server was started with
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
		slog.String("upstream", n.name), slog.String("noise", gateway.Excerpt(n.veil.Redact(line), whole, gateway.MaxNoiseBytes)))
}
