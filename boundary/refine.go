package boundary

import (
	"context"
	"log/slog"

	"github.com/candor-mcp/candor"
)

// refine lets the server say a failure in its own words, before it is stamped, written and recorded. From then on it is the
// server, and not the protocol, that says which session this is.
func (b *Boundary) refine(ctx context.Context, e *candor.Error, x *exchange) (refined *candor.Error) {
	if b.o.Refine == nil || x.refined {
		return e
	}
	x.refined, x.session = true, ""
	defer func() {
		if thrown := recover(); thrown != nil {
			b.o.Logger.ErrorContext(ctx, "Refine panicked, and the failure leaves as it was", slog.String("code", e.Code().String()))
			refined = e
		}
	}()
	if refined = b.o.Refine(ctx, e); refined == nil {
		return e
	}
	return refined
}
