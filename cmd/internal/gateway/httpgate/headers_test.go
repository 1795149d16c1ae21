package httpgate_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

func TestResponseHeadersOverTheLimitAreNamed(t *testing.T) {
	g := httpgatetest.NewGate(t, httpgatetest.Says(200, "application/json", good, "X-Long", strings.Repeat("a", 70<<10)), gateway.Options{}, httpgate.Options{})
	got := g.Post(t, httpgatetest.ToolCall)
	if m := got.Terminal(t, "7"); httpgatetest.CodeOf(m) != "UPSTREAM_GONE" || !strings.Contains(string(got.Body), "headers larger than 64 KiB") {
		t.Errorf("%s", got.Body)
	}
	g = httpgatetest.NewGate(t, http.HandlerFunc(hijacked("SSH-2.0-x\r\n\r\n", false)), gateway.Options{}, httpgate.Options{})
	if got := g.Post(t, httpgatetest.ToolCall); !strings.Contains(string(got.Body), "not valid HTTP") {
		t.Errorf("%s", got.Body)
	}
}

// A CGI server would take the header Proxy for the variable HTTP_PROXY. A browser sends the cookie of the console to
// all ports.
func TestHeadersForTheGatewayAloneAreNotForwarded(t *testing.T) {
	got := make(chan http.Header, 1)
	g := httpgatetest.NewGate(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header }), gateway.Options{}, httpgate.Options{})
	g.Post(t, httpgatetest.ToolCall, "Proxy", "http://evil.example", "Http2-Settings", "AAMAAABk", "X-Kept", "a", "Cookie", "a=1; candor-console-8767=X;candor-console-1=Y; b=2")
	if h := <-got; h.Get("Proxy") != "" || h.Get("Http2-Settings") != "" || h.Get("X-Kept") != "a" || h.Get("Cookie") != "a=1; b=2" {
		t.Errorf("%v", h)
	}
	g.Post(t, httpgatetest.ToolCall, "Cookie", "candor-console-8767=X")
	if h := <-got; len(h["Cookie"]) > 0 {
		t.Errorf("%v", h)
	}
}
