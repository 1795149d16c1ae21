package stdio

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

// noise counts output of a server that is not a message. Clients do not see it, and the beginning of it is logged.
type noise struct {
	log     *slog.Logger
	name    string
	secrets *gateway.SecretFilter // secrets that the server was started with
	lines   atomic.Int64
}

const (
	maxNoiseLines = 10 // number of lines that are logged
)

// add counts a line, or the beginning of one, and logs the first few.
func (n *noise) add(ctx context.Context, line []byte, whole bool) {
	if n.lines.Add(1) > maxNoiseLines {
		return
	}
	n.log.WarnContext(ctx, "the server printed a line that is not a JSON-RPC message",
		slog.String("upstream", n.name), slog.String("noise", gateway.Excerpt(n.secrets.Redact(line), whole, gateway.MaxNoiseBytes)))
}
