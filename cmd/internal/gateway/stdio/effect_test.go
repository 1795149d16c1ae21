package stdio

import (
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/contract"
)

// The process behind wrap ends, hangs or answers with garbage during a call. Each call is made once.
func TestAgentDoesNotRepeatACallThatAProcessHasLost(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"exit", "crash", "killed", "half", "hang", "mute", "fail"} {
		s := wrapped(t, gateway.Options{Timeouts: map[string]time.Duration{"hang": 50 * time.Millisecond}}, restarting())
		s.greet()
		s.call(1, fault, `{}`)
		if got := gatewaytest.ReadAdvice(t, s.answer("1")); got.Code == "" || got.Retry.Kind != "not_retryable" {
			t.Errorf("%s: %+v", fault, got)
		}
		s.released()
	}
}

// A shutdown of the gateway does not prove that an open call had no effect.
func TestDrainingAdvisesOpenCallsToCheckTheirEffect(t *testing.T) {
	s := wrapped(t, gateway.Options{}, badChild())
	s.greet()
	s.call(1, "hang", `{}`)
	s.call(2, "echo", `{"text":"a"}`)
	s.answer("2")
	s.stop()
	if got := gatewaytest.ReadAdvice(t, s.answer("1")); got.Code != "GATEWAY_DRAINING" || got.Retry.Kind != "not_retryable" || !strings.HasPrefix(got.Suggestion, contract.CheckEffect) {
		t.Errorf("%+v", got)
	}
	s.wait()
	s.books.CheckTotals(t, 1)
}
