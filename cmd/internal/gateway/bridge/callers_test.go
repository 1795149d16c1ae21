package bridge

import (
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
)

// Each session of a bridge has a separate process and breaker: a broken one does not affect the others.
func TestBreakerOfABridgeIsThatOfOneProcess(t *testing.T) {
	s := spannedAs(t, gateway.Options{Repeats: gateway.RepeatPolicy{Off: true}, Breaker: gateway.BreakerPolicy{Failures: 2, TrialInterval: time.Hour},
		Timeouts: map[string]time.Duration{"hang": 50 * time.Millisecond, "late": 50 * time.Millisecond}}, brokenServer(), Options{})
	broken, well := s.greet(), s.greet()
	for id, tool := range []string{"hang", "late"} {
		if got := broken.post(gatewaytest.ToolCall(id, tool, `{"ms":60000}`)); !strings.Contains(got.body, "CALL_TIMEOUT") {
			t.Fatal(got.body)
		}
	}
	if got := broken.post(gatewaytest.ToolCall(3, "echo", `{"text":"a"}`)); !strings.Contains(got.body, "CIRCUIT_OPEN") {
		t.Errorf("the session whose process hangs: %s", got.body)
	}
	if got := well.post(gatewaytest.ToolCall(3, "echo", `{"text":"a"}`)); strings.Contains(got.body, "CIRCUIT_OPEN") {
		t.Errorf("another session: %s", got.body)
	}
}

// Clients without a session share a server. Its tool list for one of them does not affect the others.
func TestClientsThatShareAServerHaveListsOfTheirOwn(t *testing.T) {
	s := spanned(t, gateway.Options{}, listServer(gatewaytest.ListsApart), Options{})
	call := func(client, arguments string) string {
		return s.send("POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":`+arguments+
			`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"`+client+
			`","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
			httpgate.VersionHeader, statelessVersion, "Mcp-Method", "tools/call", "Mcp-Name", "work").body
	}
	for _, c := range []struct{ client, arguments, code string }{
		{"a", `{"for_a":1}`, ""}, {"b", `{"for_b":1}`, ""}, {"a", `{"for_b":1}`, "INVALID_ARGUMENTS"}, {"b", `{"for_a":1}`, "INVALID_ARGUMENTS"},
	} {
		if got := call(c.client, c.arguments); gatewaytest.CodeOf(got) != c.code {
			t.Errorf("%s calls with %s: %s", c.client, c.arguments, got)
		}
	}
}
