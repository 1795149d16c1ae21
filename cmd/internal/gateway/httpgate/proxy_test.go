package httpgate_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/wire"
)

// askThrough makes a call of a server through a proxy, and returns the gateway's answer.
func askThrough(t *testing.T, target string, proxy func(*http.Request) (*url.URL, error)) []byte {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	h := httpgate.New(gateway.New(gateway.Options{}), to, httpgate.Options{})
	h.Options.Transport.(*http.Transport).Proxy = proxy //nolint:errcheck,forcetypeassert // the default of Options
	front := httptest.NewServer(h)
	defer front.Close()
	return httpgatetest.Send(t, http.MethodPost, front.URL, httpgatetest.ToolCall).Body
}

// proxyTo returns a proxy that answers every request, CONNECT included, with a handler.
func proxyTo(t *testing.T, answer http.HandlerFunc) func(*http.Request) (*url.URL, error) {
	t.Helper()
	proxy := httptest.NewServer(answer)
	t.Cleanup(proxy.Close)
	address, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	return http.ProxyURL(address)
}

// TestProxyIsUsedForTheUpstream checks that calls go through a configured proxy, and that a failure is still classified.
func TestProxyIsUsedForTheUpstream(t *testing.T) {
	t.Parallel()
	var asked string
	got := askThrough(t, "http://upstream.invalid/mcp", proxyTo(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked = r.URL.String()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"File not found"}],"isError":true}}`)
	}))
	if asked != "http://upstream.invalid/mcp" {
		t.Errorf("the proxy was asked for %q", asked)
	}
	if !strings.Contains(string(got), "dev.candor/error") {
		t.Errorf("the failure has no envelope: %s", got)
	}
}

// certified returns the URL of a server with a certificate.
func certified(t *testing.T, template x509.Certificate) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(1)
	certificate, err := x509.CreateCertificate(rand.Reader, &template, &template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: private}}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

// A call that no connection could be opened for was not sent, and its answer names the cause.
func TestConnectionThatCannotBeOpenedHasItsCauseAndNoEffect(t *testing.T) {
	t.Parallel()
	answers := func(status int) func(*http.Request) (*url.URL, error) {
		return proxyTo(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	}
	down := &url.URL{Scheme: "http", Host: "127.0.0.1:1"} // another program may listen on a port that was closed
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	defer untrusted.Close()
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	local := []net.IP{net.IPv4(127, 0, 0, 1)}
	invalid := errors.New(`invalid proxy address "a b": parse error`) // as of http.ProxyFromEnvironment
	for name, c := range map[string]struct {
		target string
		proxy  func(*http.Request) (*url.URL, error)
		reason string
		retry  string
	}{
		"CONNECT is refused":       {"https://upstream.invalid/mcp", answers(403), "the proxy answered 403", "not_retryable"},
		"CONNECT needs a password": {"https://upstream.invalid/mcp", answers(407), "the proxy answered 407", "not_retryable"},
		"proxy needs a password":   {"http://upstream.invalid/mcp", answers(407), "the proxy answered 407", "not_retryable"},
		"proxy is down":            {"https://upstream.invalid/mcp", http.ProxyURL(down), "the proxy: connection refused", "retryable_after_ms"},
		"proxy address is invalid": {
			"http://upstream.invalid/mcp", func(*http.Request) (*url.URL, error) { return nil, invalid },
			"the address of the proxy is not valid", "not_retryable",
		},
		"certificate is untrusted": {untrusted.URL, nil, "certificate not trusted", "not_retryable"},
		"server does not use TLS":  {strings.Replace(plain.URL, "http:", "https:", 1), nil, "TLS handshake failed", "not_retryable"},
		"certificate has expired":  {certified(t, x509.Certificate{NotAfter: time.Unix(1, 0), IPAddresses: local}), nil, "the certificate has expired, or is not valid yet", "not_retryable"},
		"certificate of a host":    {certified(t, x509.Certificate{NotAfter: time.Now().Add(time.Hour)}), nil, "the certificate is of another host", "not_retryable"},
		"proxy reaches no server":  {"https://upstream.invalid/mcp", answers(503), "the proxy answered 503", "retryable_after_ms"},
	} {
		m := wire.Parse(askThrough(t, c.target, c.proxy), wire.Limits{})
		e := gatewaytest.Envelope(m)
		code, _ := e.Path("code").Str()
		reason, _ := e.Path("details", "reason").Str()
		effect, _ := e.Path("details", "effect").Str()
		retry, _ := e.Path("retry", "kind").Str()
		if code != "UPSTREAM_UNREACHABLE" || reason != c.reason || effect != "none" || retry != c.retry {
			t.Errorf("%s: %s", name, m.Bytes())
		}
	}
}

// A server that was not reached rightly (421) or does not want to act yet (425) does not complain about the arguments.
func TestMisdirectedAndEarlyCallsAreNotMistakesOfTheCaller(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusMisdirectedRequest, http.StatusTooEarly} {
		g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }), gateway.Options{}, httpgate.Options{})
		if code := httpgatetest.CodeOf(g.Post(t, httpgatetest.ToolCall).Terminal(t, "7")); code != "UPSTREAM_UNAVAILABLE" {
			t.Errorf("%d: %s", status, code)
		}
	}
}
