//go:build unix

package main

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// TestGatewayClosingLineNamesFailingServers checks the end of the last line, which names at most three servers.
func TestGatewayClosingLineNamesFailingServers(t *testing.T) {
	t.Parallel()
	web := newWebServer(t)
	text := "version: 1\nlisten: 127.0.0.1:0\nadmin: 127.0.0.1:0\nupstreams:\n"
	for _, name := range []string{"files", "mail", "quiet", "shop", "wiki"} {
		text += fmt.Sprintf("  %s:\n    url: %s/mcp\n", name, web.URL)
	}
	g := newGate(t, text)
	id := 0
	call := func(server, tool, want string) {
		t.Helper()
		id++
		// Different arguments, because the gateway stops a call that fails again and again.
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"n":%[1]d}}}`, id, tool)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.address+"/"+server+"/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if got, err := fetch(req); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %s, %v", server, got, err)
		}
	}
	call("quiet", "echo", "fine")
	for server, n := range map[string]int{"files": 1, "mail": 3, "shop": 2, "wiki": 4} {
		for range n {
			call(server, "fail", "RATE_LIMITED")
		}
	}
	g.signal(syscall.SIGTERM)
	if code := g.ends(); code != term.ExitOK {
		t.Errorf("ended with %d: %s", code, g.said)
	}
	want := "candor gateway: 11 calls, 10 failures (RATE_LIMITED 10), recorded in " + g.trail + "; by server: wiki 4, mail 3, shop 2, …\n"
	if !strings.HasSuffix(g.said.String(), want) {
		t.Errorf("it said %s", g.said)
	}
}
