package gateway

import (
	"fmt"
	"testing"

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
