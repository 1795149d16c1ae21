package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

func TestLongResponseHeadersPass(t *testing.T) {
	for _, size := range []int{9 << 10, 60 << 10} {
		value := strings.Repeat("a", size)
		g := newGate(t, says(200, "application/json", good, "Content-Security-Policy", value), gateway.Options{}, gateway.HTTPOptions{})
		got := g.post(t, toolCall)
		if string(got.body) != good || got.header.Get("Content-Security-Policy") != value {
			t.Errorf("%d bytes: %d %.300s", size, got.status, got.body)
		}
	}
}

func TestResponseHeadersOverTheLimitAreNamed(t *testing.T) {
	g := newGate(t, says(200, "application/json", good, "X-Long", strings.Repeat("a", 70<<10)), gateway.Options{}, gateway.HTTPOptions{})
	got := g.post(t, toolCall)
	if m := got.terminal(t, "7"); codeOf(m) != "UPSTREAM_GONE" || !strings.Contains(string(got.body), "headers larger than 64 KiB") {
		t.Errorf("%s", got.body)
	}
	g = newGate(t, http.HandlerFunc(hijacked("SSH-2.0-x\r\n\r\n", false)), gateway.Options{}, gateway.HTTPOptions{})
	if got := g.post(t, toolCall); !strings.Contains(string(got.body), "not valid HTTP") {
		t.Errorf("%s", got.body)
	}
}
