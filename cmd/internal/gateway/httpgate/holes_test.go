package httpgate_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/wire"
)

// The following tests cover published vulnerabilities of other projects, by identifier. TestRequestsAreChecked covers host names
// and origins: CVE-2025-49596, CVE-2025-64443 and CVE-2026-34742 (DNS rebinding), CVE-2026-33252 (a form, another page).

// stranger starts a server that must never be requested. It counts its requests.
func stranger(t *testing.T) (address string, visits *atomic.Int64) {
	t.Helper()
	visits = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	t.Cleanup(s.Close)
	return s.URL, visits
}

// CVE-2025-6514: a server named an address in its answer, and the proxy requested it.
func TestAddressesFromServersAreNeverRequested(t *testing.T) {
	address, visits := stranger(t)
	for name, upstream := range map[string]http.Handler{
		"a login":      httpgatetest.Says(401, "text/plain", address, "WWW-Authenticate", `Bearer resource_metadata="`+address+`"`),
		"a redirect":   httpgatetest.Says(307, "text/plain", "", "Location", address),
		"a link":       httpgatetest.Says(200, "application/json", good, "Link", "<"+address+">; rel=preload", "Refresh", "0; url="+address),
		"an alternate": httpgatetest.Says(421, "text/plain", "", "Alt-Svc", `h2="`+strings.TrimPrefix(address, "http://")+`"`, "Content-Location", address),
	} {
		t.Run(name, func(t *testing.T) {
			g := httpgatetest.NewGate(t, upstream, gateway.Options{Retry: gateway.RetryPolicy{Attempts: 3}}, httpgate.Options{})
			g.Post(t, httpgatetest.ToolCall)
			g.Post(t, httpgatetest.ToolCall)
			if n := visits.Load(); n > 0 {
				t.Errorf("the stranger was visited %d times", n)
			}
		})
	}
}

// GHSA-g53w-w6mj-hrpp: a header from the client determined the target of a request.
func TestNoHeaderOfAClientSaysWhereARequestGoes(t *testing.T) {
	address, visits := stranger(t)
	host := strings.TrimPrefix(address, "http://")
	hosts := make(chan string, 1)
	g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hosts <- r.Host
		httpgatetest.Says(200, "application/json", good).ServeHTTP(w, r)
	}), gateway.Options{}, httpgate.Options{})
	for _, header := range []string{"Mcp-Init-Host", "X-Forwarded-Host", "X-Host", "X-Original-URL", "X-Rewrite-URL", "Forwarded", "Authority"} {
		g.Post(t, httpgatetest.ToolCall, header, host)
		if got := <-hosts; got != strings.TrimPrefix(g.Back.URL, "http://") {
			t.Errorf("%s: the upstream was asked as %s", header, got)
		}
	}
	conn := dialGate(t, g) // absolute-form request target, as for a forward proxy
	fmt.Fprintf(conn, "POST %s/x HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
		address, len(httpgatetest.ToolCall), httpgatetest.ToolCall)
	answer, _ := io.ReadAll(conn)
	if len(hosts) > 0 {
		<-hosts
	} else if !strings.HasPrefix(string(answer), "HTTP/1.1 403") {
		t.Errorf("neither forwarded nor refused: %s", answer)
	}
	if n := visits.Load(); n > 0 {
		t.Errorf("the stranger was visited %d times", n)
	}
}

// CVE-2026-27896: member names were matched without regard to case, so that two readers saw two messages.
func TestANameInOtherLettersIsNotTheName(t *testing.T) {
	reached := make(chan struct{}, 10)
	g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached <- struct{}{}
		httpgatetest.Says(200, "application/json", `{"jsonrpc":"2.0","id":7,"result":{"content":[]},"Error":{"code":1,"message":"x"}}`).ServeHTTP(w, r)
	}), gateway.Options{}, httpgate.Options{})
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":7,"Method":"tools/call","params":{"name":"read"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"ping","Method":"tools/call","params":{"name":"read"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read"},"PARAMS":{"name":"write"}}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","param\u017f":{"name":"write"}}`, // the long s folds to s
	} {
		got := g.Post(t, body)
		if m := wire.Parse(got.Body, wire.Limits{}); httpgatetest.CodeOf(m) != "INVALID_REQUEST" {
			t.Errorf("%s: %d %s", body, got.Status, got.Body)
		}
	}
	if len(reached) > 0 {
		t.Errorf("%d of them reached the upstream", len(reached))
	}
	if m := g.Post(t, httpgatetest.ToolCall).Terminal(t, "7"); httpgatetest.CodeOf(m) != "UPSTREAM_MALFORMED" {
		t.Errorf("%s", m.Bytes())
	}
}
