package browser

import (
	"bufio"
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
	p.reset(1 << 20)
	through := &url.URL{Scheme: "http", Host: p.address(), User: url.UserPassword(proxyUser, p.secret)}
	transport := &http.Transport{Proxy: http.ProxyURL(through)}
	t.Cleanup(transport.CloseIdleConnections)
	return p, &http.Client{Transport: transport}
}

func get(t *testing.T, c *http.Client, address string) (status int, body string, err error) {
	t.Helper()
	response, err := c.Get(address)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

func TestProxyRefusesOtherProcesses(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	p, _ := proxied(t, server, nil)
	for _, user := range []*url.Userinfo{nil, url.UserPassword(proxyUser, ""), url.UserPassword(proxyUser, strings.ToLower(p.secret))} {
		transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: p.address(), User: user})}
		if status, _, err := get(t, &http.Client{Transport: transport}, server.URL); err != nil || status != http.StatusProxyAuthRequired {
			t.Errorf("%v: %d %v", user, status, err)
		}
		transport.CloseIdleConnections()
	}
}

func TestProxyDoesNotForwardItsPassword(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if strings.HasPrefix(name, "Proxy-") {
				fmt.Fprint(w, name)
			}
		}
	}))
	defer server.Close()
	_, client := proxied(t, server, nil)
	if _, body, err := get(t, client, server.URL); err != nil || body != "" {
		t.Errorf("the server sees %q, %v", body, err)
	}
}

// answers is a resolver whose answers change from one lookup to the next.
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
		if _, body, err := get(t, client, "http://rebind.example:"+port+"/"); err == nil {
			t.Errorf("the answer is %q", body)
		}
		var denied *netpolicy.DeniedError
		if err := p.failure("rebind.example:" + port); !errors.As(err, &denied) {
			t.Errorf("noted: %v", err)
		}
	}
	if _, _, err := get(t, client, "http://rebind.example:"+port+"/"); err == nil || connectText(p.failure("rebind.example:"+port)) != "net::ERR_NAME_NOT_RESOLVED" {
		t.Errorf("without an address: %v, noted %v", err, p.failure("rebind.example:"+port))
	}
}

func TestProxyTunnelsToAllowedAddressesOnly(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "through") }))
	defer server.Close()
	p, _ := proxied(t, server, nil)
	request := func(host string) (status int, conn net.Conn, r *bufio.Reader) {
		conn, err := net.Dial("tcp", p.address())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		q := &http.Request{Method: http.MethodConnect, URL: &url.URL{Host: host}, Host: host, Header: http.Header{}}
		q.SetBasicAuth(proxyUser, p.secret)
		q.Header["Proxy-Authorization"] = q.Header["Authorization"]
		if err := q.Write(conn); err != nil {
			t.Fatal(err)
		}
		r = bufio.NewReader(conn)
		response, err := http.ReadResponse(r, q) //nolint:bodyclose // what follows is the tunnel, closed with its connection
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, conn, r
	}
	status, conn, r := request(strings.TrimPrefix(server.URL, "http://"))
	if status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	fmt.Fprint(conn, "GET / HTTP/1.0\r\n\r\n")
	if text, _ := io.ReadAll(r); !strings.HasSuffix(string(text), "through") {
		t.Errorf("the tunnel gave %q", text)
	}
	for _, host := range []string{p.address(), "127.0.0.1:22", "[::1]:22", "169.254.169.254:80", "localhost:22"} {
		if status, _, _ := request(host); status != http.StatusBadGateway {
			t.Errorf("%s: status %d", host, status)
		}
	}
}

func TestProxyEndsTransfersBeyondTheLimit(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("x", 1000)); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	p, client := proxied(t, server, nil)
	_, body, err := get(t, client, server.URL)
	if err == nil || len(body) > 1<<20 || !p.overspent() {
		t.Errorf("%d bytes, %v, overspent %v", len(body), err, p.overspent())
	}
}
