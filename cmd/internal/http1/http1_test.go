package http1

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// server answers every connection with the same bytes, after reading one request, and counts connections.
func server(t *testing.T, answer string, stay bool) (address string, conns *atomic.Int32) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	conns = new(atomic.Int32)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Add(1)
			go func() {
				defer func() { _ = c.Close() }()
				in := bufio.NewReader(c)
				for {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					_, _ = io.WriteString(c, answer)
					if !stay {
						return
					}
				}
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/x?y=1", conns
}

// ask returns the status and the body of a response.
func ask(t *testing.T, c *Client, address string) (int, string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.RoundTrip(r)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, string(body), err
}

func TestAnswersThatCanBeReadInTwoWaysAreRefused(t *testing.T) {
	for name, answer := range map[string]string{
		"two framings":           "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"two lengths":            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
		"a list of lengths":      "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nab",
		"a signed length":        "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nab",
		"a huge length":          "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nab",
		"another coding":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"a coding twice":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"chunks in HTTP/1.0":     "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"a header that goes on":  "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",
		"a space before a colon": "HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n",
		"no name":                "HTTP/1.1 200 OK\r\n: 0\r\n\r\n",
		"no colon":               "HTTP/1.1 200 OK\r\nhello\r\n\r\n",
		"a bare LF":              "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
		"a bare CR":              "HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 0\r\n\r\n",
		"a NUL":                  "HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 0\r\n\r\n",
		"another protocol":       "SSH-2.0-x\r\n\r\n",
		"HTTP/2":                 "HTTP/2.0 200 OK\r\n\r\n",
		"a status of two digits": "HTTP/1.1 20 OK\r\n\r\n",
		"a status of 999":        "HTTP/1.1 999 OK\r\n\r\n",
		"a long line":            "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", 70_000) + "\r\n\r\n",
		"a long status line":     "HTTP/1.1 200 " + strings.Repeat("a", 70_000) + "\r\n\r\n",
		"a long trailer":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " + strings.Repeat("a", 70_000) + "\r\n\r\n",
		"a long chunk size":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;" + strings.Repeat("a", 20_000) + "\r\nab\r\n0\r\n\r\n",
		"many headers":           "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("a", 1000)+"\r\n", 100) + "\r\n",
		"a switch":               "HTTP/1.1 101 Switching\r\n\r\n",
		"endless hints":          strings.Repeat("HTTP/1.1 103 Early\r\n\r\n", 100),
		"a chunk size in words":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n0\r\n\r\n",
		"a chunk size with 0x":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nab\r\n0\r\n\r\n",
		"a huge chunk":           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nab\r\n0\r\n\r\n",
		"a chunk without end":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
		"a chunk with a bare LF": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nab\r\n0\r\n\r\n",
	} {
		address, _ := server(t, answer, false)
		if _, _, err := ask(t, &Client{}, address); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTruncatedAnswerIsAnError(t *testing.T) {
	for name, answer := range map[string]string{
		"nothing":      "",
		"half a head":  "HTTP/1.1 200 OK\r\nConte",
		"half a body":  "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
		"half a chunk": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nabc",
		"no last one":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
		"no trailer":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n",
	} {
		address, _ := server(t, answer, false)
		if _, _, err := ask(t, &Client{}, address); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func TestGoodAnswersAreReadAndTheConnectionIsUsedAgain(t *testing.T) {
	for name, row := range map[string]struct {
		answer, body string
		again        bool
	}{
		"a length":       {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-A: 1\r\nx-a: 2\r\n\r\nabc", "abc", true},
		"chunks":         {"HTTP/1.1 200\r\ntransfer-encoding: Chunked\r\n\r\n2;x=y\r\nab\r\n1\r\nc\r\n0\r\nT: 1\r\n\r\n", "abc", true},
		"no body":        {"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", "", true},
		"no content":     {"HTTP/1.1 204 No Content\r\n\r\n", "", true},
		"a hint first":   {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", "a", true},
		"it says close":  {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: x, Close\r\n\r\na", "a", false},
		"a long header":  {"HTTP/1.1 200 OK\r\nX-A: " + strings.Repeat("a", 60_000) + "\r\nContent-Length: 1\r\n\r\na", "a", true},
		"a long trailer": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-A: " + strings.Repeat("a", 60_000) + "\r\n\r\n", "a", true},
		"something more": {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "a", false},
	} {
		address, conns := server(t, row.answer, true)
		c := &Client{}
		for range 3 {
			status, body, err := ask(t, c, address)
			if err != nil || body != row.body || status/100 != 2 {
				t.Errorf("%s: %v %q", name, err, body)
			}
		}
		if again := conns.Load() == 1; again != row.again {
			t.Errorf("%s: %d connections", name, conns.Load())
		}
	}
	address, _ := server(t, "HTTP/1.0 200 OK\r\n\r\nabc", false)
	if _, body, err := ask(t, &Client{}, address); err != nil || body != "abc" {
		t.Errorf("until the end: %q %v", body, err)
	}
}

func TestClosedIdleConnectionIsNotUsed(t *testing.T) {
	address, conns := server(t, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", false) // and closes the connection
	c := &Client{}
	for i := range 20 {
		if _, _, err := ask(t, c, address); err != nil {
			t.Fatal(err)
		}
		for c.idleLives() { // until the end of the connection has arrived
			time.Sleep(time.Millisecond)
		}
		if conns.Load() != int32(i+1) {
			t.Fatal(conns.Load())
		}
	}
}

func (c *Client) idleLives() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.idle) > 0 && c.idle[0].isUsable()
}

func TestARequestIsSentWholeAndAContextEndsIt(t *testing.T) {
	large := strings.Repeat("x", 300_000)
	got := make(chan string, 1)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.Method + r.RequestURI + r.Header.Get("X-A") + string(body)
		<-r.Context().Done()
	}))
	defer s.Close()
	for _, body := range []string{"small", large} {
		ctx, cancel := context.WithCancel(t.Context())
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/p%20q?z", bytes.NewReader([]byte(body)))
		r.Header.Set("X-A", "1")
		time.AfterFunc(50*time.Millisecond, cancel)
		c := &Client{TLS: trusts(s)}
		_, err := c.RoundTrip(r) //nolint:bodyclose // there is none
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if sent := <-got; sent != "POST/p%20q?z1"+body {
			t.Errorf("%.80q", sent)
		}
	}
	_, _, err := ask(t, &Client{}, s.URL) // its certificate is unknown
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "dial" {
		t.Errorf("%v", err)
	}
}

// trusts returns a configuration that trusts the certificate of a server.
func trusts(s *httptest.Server) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}

func TestAHeaderCannotSmuggleARequest(t *testing.T) {
	address, _ := server(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true)
	for name, value := range map[string]string{"X": "a\r\nHost: b", "X\r\nY": "a", "X Y": "a", "": "a"} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, address, http.NoBody)
		r.Header = http.Header{name: {value}}
		if _, err := new(Client).RoundTrip(r); err == nil { //nolint:bodyclose // there is none
			t.Errorf("%q: %q was sent", name, value)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc")
	f.Add("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
	f.Fuzz(func(t *testing.T, answer string) {
		n := newConn(&Client{}, origin{}, &readOnly{Reader: strings.NewReader(answer)}, nil)
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://x/", nil)
		res, err := n.exchange(t.Context(), r, nil)
		if err != nil {
			return
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return
		}
		// The standard library, which is less strict, must parse every accepted response in the same way.
		want, err := http.ReadResponse(bufio.NewReader(strings.NewReader(final(answer))), r)
		if err != nil {
			return
		}
		defer func() { _ = want.Body.Close() }()
		theirs, err := io.ReadAll(want.Body)
		if err == nil && (want.StatusCode != res.StatusCode || !bytes.Equal(body, theirs)) {
			t.Errorf("we read %d %q, the standard library %d %q", res.StatusCode, body, want.StatusCode, theirs)
		}
	})
}

// final returns a response without the informational ones before it.
func final(answer string) string {
	for strings.HasPrefix(answer, "HTTP/1.1 1") || strings.HasPrefix(answer, "HTTP/1.0 1") {
		_, rest, ok := strings.Cut(answer, "\r\n\r\n")
		if !ok {
			break
		}
		answer = rest
	}
	return answer
}

type readOnly struct {
	io.Reader
	net.Conn
}

func (r *readOnly) Read(p []byte) (int, error) { return r.Reader.Read(p) }
func (*readOnly) Write(p []byte) (int, error)  { return len(p), nil }
func (*readOnly) Close() error                 { return nil }
func (*readOnly) SetDeadline(time.Time) error  { return nil }
