package bridge

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/gateway/stdio"
	"github.com/candor-mcp/candor/cmd/internal/guard"
	"github.com/candor-mcp/candor/cmd/internal/testing/badserver"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

// span is a bridge over real sockets to the bad server.
type span struct {
	t *testing.T
	*gatewaytest.Books
	b     *Bridge
	URL   string
	log   *gatewaytest.LockedBuffer
	said  *gatewaytest.LockedBuffer // stderr of its servers
	ahead atomic.Int64              // how far its clock is ahead, in seconds
}

// spanned opens a bridge that forwards every call, regardless of earlier failures.
func spanned(t *testing.T, o gateway.Options, child stdio.Child, bo Options) *span {
	t.Helper()
	o.Repeats.Off, o.Breaker.Off = true, true
	return spannedAs(t, o, child, bo)
}

// spannedAs opens a bridge. The test's cleanup closes it and checks that no process remains.
func spannedAs(t *testing.T, o gateway.Options, child stdio.Child, bo Options) *span {
	t.Helper()
	before := runtime.NumGoroutine()
	s := &span{t: t, Books: &gatewaytest.Books{}, log: &gatewaytest.LockedBuffer{}, said: &gatewaytest.LockedBuffer{}}
	child.Stderr = s.said
	o.Ledger, o.Meter, o.Logger = s.Books, s.Books, slog.New(slog.NewTextHandler(s.log, nil))
	o.Now = func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load()) * time.Second) }
	s.b = New(gateway.New(o), child, bo)
	front := httptest.NewServer(s.b)
	s.URL = front.URL + "/mcp"
	t.Cleanup(func() {
		if err := s.b.Close(context.Background()); err != nil {
			t.Error(err)
		}
		front.CloseClientConnections()
		front.Close()
		http.DefaultClient.CloseIdleConnections()
		if s.b.sessionCount != 0 || len(s.b.hosts) != 0 || len(s.b.sessions) != 0 {
			t.Errorf("left: %d places, %d servers, %d sessions", s.b.sessionCount, len(s.b.hosts), len(s.b.sessions))
		}
		if testing.Short() || strings.Contains(t.Name(), "/") {
			return // other tests run in parallel
		}
		gatewaytest.Eventually(t, "the goroutines of the bridge to end", func() bool { return runtime.NumGoroutine() <= before })
	})
	return s
}

// begun waits until the servers have received n calls of "hang" or "late". A call counts as open before its server has it, and ends
// differently in between.
func (s *span) begun(n int) {
	s.t.Helper()
	gatewaytest.Eventually(s.t, "the servers have the calls", func() bool { return strings.Count(s.said.String(), badserver.Begun) == n })
}

// heard is a complete response of a bridge.
type heard struct {
	status int
	header http.Header
	body   string
}

// do sends a request and returns the response without reading its body.
func (s *span) do(ctx context.Context, method, body string, header ...string) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, s.URL, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		if ctx.Err() == nil {
			s.t.Errorf("%s: %v\n%s", method, err, s.log)
		}
		return &http.Response{Body: http.NoBody, Header: http.Header{}}
	}
	return res
}

func (s *span) send(method, body string, header ...string) heard {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), gatewaytest.TooLong)
	defer cancel()
	res := s.do(ctx, method, body, header...)
	defer func() { _ = res.Body.Close() }()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Errorf("reading an answer: %v", err)
	}
	return heard{res.StatusCode, res.Header, string(got)}
}

// client is one session with a bridge.
type client struct {
	*span
	id string
}

// greet begins a session.
func (s *span) greet() *client {
	s.t.Helper()
	got := s.send(http.MethodPost, gatewaytest.SpanHello)
	c := &client{s, got.header.Get(httpgate.SessionHeader)}
	if got.status != http.StatusOK || len(c.id) < 26 || !strings.Contains(got.body, `"id":"hello","result":`) {
		s.t.Fatalf("initialize: %d %q %s\n%s", got.status, c.id, got.body, s.log)
	}
	if got := c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); got.status != http.StatusAccepted || got.body != "" {
		s.t.Fatalf("initialized: %+v", got)
	}
	return c
}

func (c *client) post(body string) heard {
	c.t.Helper()
	return c.send(http.MethodPost, body, httpgate.SessionHeader, c.id)
}

func (c *client) call(id int, tool, arguments string) heard {
	c.t.Helper()
	return c.post(gatewaytest.ToolCall(id, tool, arguments))
}

// messages returns the messages of a response, whether it is one body or events.
func (h heard) messages() []string {
	if !strings.HasPrefix(h.header.Get("Content-Type"), "text/event-stream") {
		if h.body == "" {
			return nil
		}
		return []string{h.body}
	}
	var all []string
	events := framing.NewEventReader(bytes.NewReader([]byte(h.body)), wire.Limits{})
	for {
		e, err := events.Next()
		if err != nil {
			return all
		}
		all = append(all, string(e.Data))
	}
}

// stream reads the events of a GET one by one.
type stream struct {
	t      *testing.T
	events *framing.EventReader
	close  func()
}

func (c *client) listen() *stream {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.t.Context())
	res := c.do(ctx, http.MethodGet, "", httpgate.SessionHeader, c.id) //nolint:bodyclose // the stream closes it
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		c.t.Fatalf("GET: %d", res.StatusCode)
	}
	return &stream{c.t, framing.NewEventReader(res.Body, wire.Limits{}), func() { cancel(); _ = res.Body.Close() }}
}

func (s *stream) next() string {
	s.t.Helper()
	e, err := s.events.Next()
	if err != nil {
		s.t.Fatalf("the stream ended: %v", err)
	}
	return string(e.Data)
}

// pidOf returns the process ids that the server of a session reports.
func (c *client) pidOf(id int) []int {
	c.t.Helper()
	return gatewaytest.PidsIn(c.t, c.call(id, "forkaway", `{}`).body)
}

func missing(command string) stdio.Child {
	return stdio.Child{Command: fmt.Sprintf("%s-%d", command, os.Getpid())}
}

// brokenServer is the bad server behind a guard.
func brokenServer() stdio.Child {
	return stdio.Child{
		Command: os.Args[0], Env: append(os.Environ(), badserver.Env+"=server", "GORACE=atexit_sleep_ms=0"), Guard: []string{os.Args[0], "guard"},
		Grace: 500 * time.Millisecond,
	}
}

// listServer is a server that answers tools/list in an unusual way.
func listServer(kind string) stdio.Child {
	return stdio.Child{Command: os.Args[0], Env: append(os.Environ(), gatewaytest.ListEnv+"="+kind, "GORACE=atexit_sleep_ms=0"), Grace: 500 * time.Millisecond}
}

// TestMain runs the servers and guards that the tests start as copies of the test binary.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "guard":
		os.Exit(guard.Main(os.Args[2:]))
	case os.Getenv(gatewaytest.ListEnv) != "":
		os.Exit(gatewaytest.ListMain())
	case badserver.Wanted():
		os.Exit(badserver.Main())
	}
	os.Exit(m.Run())
}
