package httpgate_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	httpgate "github.com/candor-mcp/candor/cmd/internal/gateway/http"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

func TestLongResponseHeadersPass(t *testing.T) {
	for _, size := range []int{9 << 10, 60 << 10} {
		value := strings.Repeat("a", size)
		g := httpgatetest.NewGate(t, httpgatetest.Says(200, "application/json", good, "Content-Security-Policy", value), gateway.Options{}, httpgate.Options{})
		got := g.Post(t, httpgatetest.ToolCall)
		if string(got.Body) != good || got.Header.Get("Content-Security-Policy") != value {
			t.Errorf("%d bytes: %d %.300s", size, got.Status, got.Body)
		}
	}
}

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
