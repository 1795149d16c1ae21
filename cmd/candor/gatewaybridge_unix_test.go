//go:build unix

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// TestGatewayStartsServers checks that each session of an upstream with a command gets a server, and that a reload does not end it.
func TestGatewayStartsServers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := func(settings string) string {
		return "version: 1\nlisten: 127.0.0.1:0\nadmin: 127.0.0.1:0\nupstreams:\n  it:\n    command: [sh, -c, \"touch started; exec badserver\"]\n    cwd: " + dir + "\n" + settings
	}
	g := newGate(t, text(""))
	session := ""
	post := func(body string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.address+"/it/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatalf("%v; it said %s", err, g.said)
		}
		defer res.Body.Close() //nolint:errcheck // it was only read
		if id := res.Header.Get("Mcp-Session-Id"); id != "" {
			session = id
		}
		var b strings.Builder
		if err := res.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got := post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"t","version":"1"}}}`); !strings.Contains(got, `"name":"badserver"`) || session == "" {
		t.Fatalf("answered %s; it said %s", got, g.said)
	}
	if _, err := os.Stat(filepath.Join(dir, "started")); err != nil {
		t.Errorf("the server was not started in its folder: %v", err)
	}
	g.write(t, text("    timeout: 9s\n"))
	g.signal(syscall.SIGHUP)
	g.said.await("was reloaded", 1)
	if got := post(toolCall("2", "fail")); !strings.Contains(got, `"code":"NOT_FOUND"`) {
		t.Errorf("answered %s; it said %s", got, g.said)
	}
	g.signal(syscall.SIGTERM)
	if code := g.ends(); code != term.ExitOK {
		t.Errorf("ended with %d: %s", code, g.said)
	}
	if codes := g.recorded(); len(codes) != 1 || codes["NOT_FOUND"] != 1 {
		t.Errorf("recorded %v", codes)
	}
}
