package stdio

import (
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

const initialize = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// A server may take longer to start than any of its calls.
func TestTimeoutOfCallsDoesNotLimitTheStart(t *testing.T) {
	t.Parallel()
	s := wrapped(t, gateway.Options{Timeout: 200 * time.Millisecond}, listChild(gatewaytest.ListsSlow))
	s.send(initialize)
	if got := s.answer(`"hello"`); gatewaytest.CodeOf(got) != "" {
		t.Errorf("client gets %s", got)
	}
	s.hangUp()
	s.books.CheckTotals(t, 0)
}

// A server that does not start is abandoned after StartTimeout, and the answer says how to change it.
func TestStartTimeoutLimitsInitialize(t *testing.T) {
	s := wrapped(t, gateway.Options{StartTimeout: 300 * time.Millisecond}, listChild(gatewaytest.ListsDeaf))
	s.send(initialize)
	got := s.answer(`"hello"`)
	if gatewaytest.CodeOf(got) != "CALL_TIMEOUT" || !strings.Contains(shown(t, got), "initialize within 300ms") || !strings.Contains(got, "--start-timeout") {
		t.Errorf("client gets %s", got)
	}
	s.hangUp()
	s.books.CheckTotals(t, 1)
}
