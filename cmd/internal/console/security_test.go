package console_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/console"
	"github.com/candor-mcp/candor/internal/testing/wait"
	"github.com/candor-mcp/candor/ledger"
)

// everyRoute calls visit with a method and an address of each registered route.
func (s *site) everyRoute(visit func(method, path string)) {
	at := s.add(failed{server: "shop", tool: "search", said: "no such order", session: "s1"})
	values := strings.NewReplacer("{$}", "", "{chain}", at.Chain, "{seq}", fmt.Sprint(at.Seq), "{prefix}", "ref", "{server}", "shop",
		"{tool}", "search", "{session}", "s1", "{name}", "shop.json")
	for _, route := range s.server.Routes() {
		visit(route[0], values.Replace(route[1]))
	}
}

func TestEveryRouteRefusesOtherHostsAndOrigins(t *testing.T) {
	s := open(t, console.Options{Token: token, Rules: &fakeRules{}})
	port := strings.TrimPrefix(s.http.URL, "http://127.0.0.1")
	s.everyRoute(func(method, path string) {
		for _, host := range []string{"evil.example", "evil.example" + port, "127.0.0.1.evil.example" + port, "localhost.evil.example", "169.254.169.254", "0x7f.1" + port} {
			res, body := s.request(method, path, "", func(r *http.Request) { bearer(r); r.Host = host })
			if res.StatusCode != http.StatusForbidden || strings.Contains(body, "no such order") {
				t.Errorf("%s %s with the host %s: status %d, want 403", method, path, host, res.StatusCode)
			}
		}
		for _, origin := range []string{"null", "http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1" + port + ".evil.example", "file://", ""} {
			res, _ := s.request(method, path, "", func(r *http.Request) { bearer(r); r.Header.Set("Origin", origin) })
			if res.StatusCode != http.StatusForbidden || res.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %s of the origin %q: status %d, want 403", method, path, origin, res.StatusCode)
			}
		}
	})
}

func TestTokenInAnAddressIsRefused(t *testing.T) {
	s := open(t, console.Options{Token: token})
	s.add(failed{server: "shop", tool: "search", said: "no such order"})
	for _, name := range []string{"token", "access_token", "q", "at", "x"} {
		for _, path := range []string{"/", "/login", "/api/v1/failures", "/live", "/nothing"} {
			res, body := s.request("GET", path+"?"+url.Values{"a": {"b"}, name: {token}}.Encode(), "", bearer)
			if res.StatusCode != http.StatusBadRequest || strings.Contains(body, token) || strings.Contains(res.Header.Get("Location"), "token") {
				t.Errorf("%s with the token as %s: status %d, want 400", path, name, res.StatusCode)
			}
		}
	}
}

// TestPathsDoNotLeaveTheLedger has a ledger beside that of the console, and files outside of it.
func TestPathsDoNotLeaveTheLedger(t *testing.T) {
	s := open(t, console.Options{})
	at := s.add(failed{server: "shop", tool: "search", said: "no such order"})
	other, err := ledger.Open(filepath.Join(filepath.Dir(s.dir), "other"), ledger.Options{Instance: "other"})
	if err != nil {
		t.Fatal(err)
	}
	there, err := other.Append(context.Background(), ledger.Entry{Kind: ledger.KindFailure, Tool: "secret", Cause: "root:x:0:0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(s.dir), "secret.json"), []byte("root:x:0:0"), 0o600); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, up := range []string{"..%2Fother%2F" + there.Chain, "..%5Cother%5C" + there.Chain, "%2e%2e%2Fother%2F" + there.Chain, at.Chain + "%2F..%2F..%2Fother%2F" + there.Chain, "%00" + at.Chain, ".", "%2Fetc"} {
		paths = append(paths, fmt.Sprintf("/failure/%s/%d", up, there.Seq), fmt.Sprintf("/failure/%s/%d/proof.json", up, there.Seq), fmt.Sprintf("/api/v1/failures/%s/%d", up, there.Seq))
	}
	for _, folder := range []string{"/assets/"} {
		for _, name := range []string{"../secret.json", "..%2Fsecret.json", "..%5Csecret.json", "....//secret.json", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "/etc/passwd", "%2Fetc%2Fpasswd", "console.go", ".", ".."} {
			paths = append(paths, folder+name)
		}
	}
	for _, path := range paths {
		status, body := s.raw(path)
		if !strings.HasPrefix(status, "404") && !strings.HasPrefix(status, "301") && !strings.HasPrefix(status, "307") || strings.Contains(body, "root:") || strings.Contains(body, "secret</") {
			t.Errorf("GET %s: %s", path, status)
		}
	}
}

// raw sends a path as it is: clients clean paths.
func (s *site) raw(path string) (status, body string) {
	s.t.Helper()
	host := strings.TrimPrefix(s.http.URL, "http://")
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", host)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // it was only read
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nCookie: %s=%s\r\nConnection: close\r\n\r\n", path, host, s.cookie.Name, s.cookie.Value); err != nil {
		s.t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.Status, string(data)
}

// pipeListener accepts connections without any buffer, so that a reader that does not read is slow at once.
type pipeListener struct {
	conns chan net.Conn
	ended chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.ended:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { close(l.ended); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func TestSlowReadersOfFeedsAreDropped(t *testing.T) {
	t.Parallel()
	s := open(t, console.Options{Token: token})
	s.server.SetFeedTimeout(2 * time.Second) // a busy machine reads the beginning of every feed in this time
	l := &pipeListener{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{Handler: s.server, ReadHeaderTimeout: time.Minute}
	go server.Serve(l)                       //nolint:errcheck // ended by Close
	t.Cleanup(func() { _ = server.Close() }) // ends the connections that were not dropped
	for range console.MaxStreams {
		here, there := net.Pipe()
		l.conns <- there
		if _, err := io.WriteString(here, "GET /live HTTP/1.1\r\nHost: 127.0.0.1:1\r\nAuthorization: Bearer "+token+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(here), nil) //nolint:bodyclose // it stays open and is not read
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatal(res, err)
		}
		if _, err := io.ReadFull(res.Body, make([]byte, len("retry: 2000\n: live\n\n"))); err != nil {
			t.Fatal(err)
		}
	}
	if res, _ := s.request("GET", "/live", "", nil); res.StatusCode != http.StatusServiceUnavailable {
		t.Fatalf("one feed too many: status %d", res.StatusCode)
	}
	s.add(failed{server: "shop", tool: "search", said: "is not read"})
	s.get("/") // the pages do not wait for slow readers
	wait.Until(t, "the end of the slow readers", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		r, _ := http.NewRequestWithContext(ctx, "GET", s.http.URL+"/live", http.NoBody)
		bearer(r)
		res, err := http.DefaultClient.Do(r)
		if err == nil {
			_ = res.Body.Close()
		}
		return err == nil && res.StatusCode == http.StatusOK
	})
}
