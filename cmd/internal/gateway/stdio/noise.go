package stdio

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

// noise is what a server prints where only messages belong. It is kept from the client, counted, and its beginning is logged.
type noise struct {
	log     *slog.Logger
	name    string
	secrets *gateway.SecretFilter // over the secrets that the server was started with
	lines   atomic.Int64
}

const (
	maxNoiseLines = 10 // that are logged
)

// add counts a line, or the beginning of one, and logs the first few.
func (n *noise) add(ctx context.Context, line []byte, whole bool) {
	if n.lines.Add(1) > maxNoiseLines {
		return
	}
	n.log.WarnContext(ctx, "the server printed a line that is not a JSON-RPC message",
		slog.String("upstream", n.name), slog.String("noise", gateway.Excerpt(n.secrets.Redact(line), whole, gateway.MaxNoiseBytes)))
}
