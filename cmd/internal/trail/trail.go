// Package trail records the failures of a gateway in a ledger.
package trail

import (
	"context"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/ledger"
)

// Of adapts a ledger to the interface of the gateway. Each failure is one entry, and each attempt that is retried is one too.
func Of(l *ledger.Ledger) gateway.Ledger { return trail{l} }

type trail struct{ ledger *ledger.Ledger }

// Record implements [gateway.Ledger]. It returns when the entry is on disk.
func (t trail) Record(ctx context.Context, e gateway.Entry) error {
	_, err := t.ledger.Append(ctx, entryOf(e))
	return err
}

func entryOf(e gateway.Entry) ledger.Entry {
	out := ledger.EntryOf(e.Error)
	out.Args, out.Upstream, out.Envelope = e.Arguments, e.Said, e.Sent
	out.Attempt, out.Latency = e.Attempt, e.Latency
	out.Data = candor.DetailsOf(map[string]any{"method": e.Method, "verdict": e.Verdict, "upstream": e.Upstream})
	switch {
	case e.Retried:
		out.Kind = ledger.KindAttempt
	case e.Suspected:
		out.Outcome = ledger.OutcomeSuspected
	case e.Sent == nil:
		out.Outcome = ledger.OutcomeSuppressed
	}
	return out
}
