package browser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/netpolicy"
)

// proxied returns a proxy that may reach the server, and a client that uses it.
func proxied(t *testing.T, server *httptest.Server, resolver netpolicy.Resolver) (*proxy, *http.Client) {
	t.Helper()
	policy, err := netpolicy.Parse(strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProxy(&netpolicy.Dialer{Policy: policy, Resolver: resolver})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	p.asked.Store(true)
	transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "socks5", Host: p.address()}), DisableKeepAlives: true}
	return p, &http.Client{Transport: transport}
}

func get(c *http.Client, address string) (string, error) {
	response, err := c.Get(address)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// answers is a resolver with other answers at each lookup.
type answers struct{ left []string }

func (a *answers) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	if len(a.left) == 0 {
		return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
	}
	next := a.left[0]
	a.left = a.left[1:]
	return []netip.Addr{netip.MustParseAddr(next)}, nil
}

func TestProxyDeniesReboundNames(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "inside") }))
	defer server.Close()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	p, client := proxied(t, server, &answers{[]string{"169.254.169.254", "10.0.0.1", "::ffff:192.168.0.1"}})
	for range 3 {
		if body, err := get(client, "http://rebind.example:"+port+"/"); err == nil {
			t.Errorf("the answer is %q", body)
		}
		var denied *netpolicy.DeniedError
		if err := p.failure("rebind.example:" + port); !errors.As(err, &denied) {
			t.Errorf("noted: %v", err)
		}
	}
	if _, err := get(client, "http://rebind.example:"+port+"/"); err == nil || connectText(p.failure("rebind.example:"+port)) != "net::ERR_NAME_NOT_RESOLVED" {
		t.Errorf("without an address: %v, noted %v", err, p.failure("rebind.example:"+port))
	}
}

func TestProxyRefusesConnectionsBeforeThePage(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "through") }))
	defer server.Close()
	p, client := proxied(t, server, nil)
	for _, asked := range []bool{false, true} {
		p.asked.Store(asked)
		if _, err := get(client, server.URL); (err == nil) != asked {
			t.Errorf("a page was asked for: %v, got %v", asked, err)
		}
	}
}

func TestProxyConnectsToAllowedAddressesOnly(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "through") }))
	defer server.Close()
	p, client := proxied(t, server, nil)
	if body, err := get(client, server.URL); err != nil || body != "through" {
		t.Errorf("the answer is %q, %v", body, err)
	}
	for _, host := range []string{p.address(), "127.0.0.1:22", "[::1]:22", "169.254.169.254:80", "localhost:22"} {
		var denied *netpolicy.DeniedError
		if body, err := get(client, "http://"+host); err == nil || !errors.As(p.failure(host), &denied) {
			t.Errorf("%s: %q, noted %v", host, body, p.failure(host))
		}
	}
}
