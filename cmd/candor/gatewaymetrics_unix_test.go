//go:build unix

package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/gatewaycmd"
	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// TestGatewayCountersNeverGoBack reloads the configuration until the first endpoints are closed, with a call through each of them.
func TestGatewayCountersNeverGoBack(t *testing.T) {
	t.Parallel()
	web := newWebServer(t)
	g := newGate(t, configText(web.URL, ""))
	const reloads = gatewaycmd.MaxRetired + 3
	for i := range reloads {
		g.mustCall(t, i+1, "echo")
		g.write(t, configText(web.URL, fmt.Sprintf("    timeout: %ds\n", 31+i)))
		g.signal(syscall.SIGHUP)
		g.said.await("was reloaded: 1 upstream", i+1)
	}
	if page := g.look(t, "/metrics"); !strings.Contains(page, fmt.Sprintf("candor_gateway_calls_total{server=\"it\"} %d\n", reloads)) {
		t.Errorf("after %d calls:\n%s", reloads, page)
	}
	g.signal(syscall.SIGTERM)
	if code := g.ends(); code != term.ExitOK {
		t.Errorf("ended with %d: %s", code, g.said)
	}
}
