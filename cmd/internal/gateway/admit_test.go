package gateway

import (
	"context"
	"fmt"
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/wire"
)

func TestObserveNeverRefusesCalls(t *testing.T) {
	up := New(Options{Mode: ModeObserve, Breaker: BreakerPolicy{Failures: 1}})
	for id := range 3 {
		request := wire.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read"}}`, id), wire.Limits{})
		call, refusal := up.Admit(t.Context(), &request, "s1")
		if call == nil {
			t.Fatalf("call %d was refused: %s", id, refusal)
		}
		call.Close(t.Context(), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"error":{"code":-32603,"message":"connection refused"}}`, id))
	}
}

// entries is a ledger that keeps all failures.
type entries []candor.Failure

func (e *entries) RecordFailure(_ context.Context, entry candor.Failure) error {
	*e = append(*e, entry)
	return nil
}

func TestUnreadRequestHasNoLatency(t *testing.T) {
	var ledger entries
	up := New(Options{Ledger: &ledger})
	m := wire.Parse([]byte("no message"), wire.Limits{})
	up.Malformed(t.Context(), &m, "s1")
	up.Oversize(t.Context(), 1<<30, []byte(`{"jsonrpc":"2.0","id":1`), nil, "s1")
	if len(ledger) != 2 {
		t.Fatalf("%d entries were recorded, want 2", len(ledger))
	}
	for _, e := range ledger {
		if e.Latency.Hours() > 1 {
			t.Errorf("%s is recorded to have taken %s", e.Error.Code(), e.Latency)
		}
	}
}
