//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
)

// TestConfiguredOriginWorksFromABrowser sends the two requests that a browser sends for a call from a page.
func TestConfiguredOriginWorksFromABrowser(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":7,"result":{}}`)
	}))
	t.Cleanup(web.Close)
	g := newGate(t, "origins: [\"https://app.example\"]\n"+configText(web.URL, ""))
	for _, row := range []struct {
		method, origin, allowed string
		status                  int
	}{
		{http.MethodOptions, "https://app.example", "https://app.example", http.StatusNoContent},
		{http.MethodPost, "https://app.example", "https://app.example", http.StatusOK},
		{http.MethodOptions, "https://evil.example", "", http.StatusForbidden},
	} {
		r, err := http.NewRequestWithContext(t.Context(), row.method, g.address+"/it/", strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", row.origin)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Access-Control-Request-Method", http.MethodPost)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != row.status || res.Header.Get("Access-Control-Allow-Origin") != row.allowed {
			t.Errorf("%s from %s: %d %v", row.method, row.origin, res.StatusCode, res.Header)
		}
	}
	g.signal(syscall.SIGTERM)
	if code := g.ends(); code != term.ExitOK {
		t.Errorf("ended with %d: %s", code, g.said)
	}
}
