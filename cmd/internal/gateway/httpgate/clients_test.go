package httpgate_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/wire"
)

func dialGate(t *testing.T, g *httpgatetest.Gate) net.Conn {
	t.Helper()
	u, err := url.Parse(g.URL)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(gatewaytest.TooLong))
	return conn
}

// echo answers every call with its arguments, or fails with them, on a stream or as a whole response.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m := wire.Parse(body, wire.Limits{})
	who, _ := m.Params().Path("arguments", "who").Str()
	n, _ := m.Params().Path("arguments", "n").Int64()
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}],"isError":%v}}`, m.ID(), who, n%3 == 0)
	switch n % 5 {
	case 0:
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: "+answer+"\n\n")
	case 1:
		http.Error(w, who, http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}
}

var hostile = flag.Int("hostile", 1, "how many times as many hostile clients there are; make crash has 25, which is what R10 asks")

func TestR10EqualIDsOfManyClientsAreNeverMixedUp(t *testing.T) {
	t.Parallel()
	g := httpgatetest.NewGate(t, http.HandlerFunc(echo), gateway.Options{Breaker: gateway.BreakerPolicy{Off: true}, Repeats: gateway.RepeatPolicy{Off: true}},
		httpgate.Options{})
	ids := []string{"1", `"1"`, "1.0", "9007199254740993", "9223372036854775808", `"\u0031a"`}
	var failed, group = new(atomic.Int64), sync.WaitGroup{}
	for client := range 64 {
		group.Go(func() {
			for n := range 60 * *hostile {
				who := fmt.Sprintf("client %d call %d.", client, n)
				id := ids[n%len(ids)]
				got := g.Post(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"t","arguments":{"who":%q,"n":%d}}}`, id, who, n))
				m := got.Terminal(t, id)
				if !strings.Contains(string(m.Bytes()), who) {
					t.Errorf("%s was answered %s", who, m.Bytes())
				}
				if httpgatetest.CodeOf(m) != "" {
					failed.Add(1)
				}
			}
		})
	}
	group.Wait()
	if failed.Load() == 0 {
		t.Error("nothing failed")
	}
	g.CheckTotals(t, int(failed.Load()))
}

func TestAClientThatGoesAwayCallsOffItsCall(t *testing.T) {
	for _, kind := range []string{"application/json", "text/event-stream"} {
		seen := make(chan struct{})
		ctx, leave := context.WithCancel(t.Context())
		g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", kind)
			_ = http.NewResponseController(w).Flush()
			leave()
			<-r.Context().Done()
			close(seen)
		}), gateway.Options{}, httpgate.Options{})
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, g.URL, strings.NewReader(httpgatetest.ToolCall))
		r.Header.Set("Content-Type", "application/json")
		if res, err := http.DefaultClient.Do(r); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
		<-seen
		gatewaytest.Eventually(t, "the other goroutine", func() bool { return len(g.Codes()) == 1 })
		if g.Codes()[0] != "candor/CANCELLED" {
			t.Errorf("%v", g.Codes())
		}
		g.CheckTotals(t, 0)
	}
}

// Sessions are begun and never used again, by clients that never end them.
func TestR10AbandonedSessionsHoldNothing(t *testing.T) {
	var n atomic.Int64
	g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", n.Add(1)))
		httpgatetest.Says(200, "application/json", good).ServeHTTP(w, r)
	}), gateway.Options{}, httpgate.Options{Sessions: 100})
	refused := 0
	for range 400 * *hostile {
		m := g.Post(t, `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}`).Terminal(t, "7")
		switch httpgatetest.CodeOf(m) {
		case "":
		case "TOO_MANY_SESSIONS":
			refused++
		default:
			t.Fatalf("%s", m.Bytes())
		}
	}
	if want := 400**hostile - 100; refused != want {
		t.Errorf("%d sessions were refused, want %d", refused, want)
	}
	g.CheckTotals(t, refused)
}

func TestSessionsAreCappedAndForgotten(t *testing.T) {
	const begin = `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}`
	start := func(h httpgate.Options) (g *httpgatetest.Gate, begins func() string) {
		var n atomic.Int64
		g = httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", n.Add(1)))
			httpgatetest.Says(200, "application/json", good).ServeHTTP(w, r)
		}), gateway.Options{}, h)
		return g, func() string { return httpgatetest.CodeOf(g.Post(t, begin).Terminal(t, "7")) }
	}
	g, begins := start(httpgate.Options{Sessions: 10})
	for n := range 11 {
		if code := begins(); (code != "") != (n == 10) || n == 10 && code != "TOO_MANY_SESSIONS" {
			t.Fatalf("session %d: %q", n+1, code)
		}
	}
	if got := httpgatetest.Send(t, http.MethodDelete, g.URL, "", "Mcp-Session-Id", "s3"); got.Status != 200 {
		t.Errorf("%d", got.Status)
	}
	if code := begins(); code != "" {
		t.Errorf("after a goodbye: %s", code)
	}
	_, begins = start(httpgate.Options{Sessions: 1, SessionIdleTimeout: time.Millisecond})
	begins()
	gatewaytest.Eventually(t, "the idle session is forgotten", func() bool { return begins() == "" })
}

func TestTooManyOpenCallsAndStreamsAreRefused(t *testing.T) {
	hold := make(chan struct{})
	var open atomic.Int64
	g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		open.Add(1)
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}), gateway.Options{}, httpgate.Options{Calls: 3, Streams: 2})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	start := func(method, body string) {
		r, _ := http.NewRequestWithContext(ctx, method, g.URL, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { _ = res.Body.Close() })
	}
	for range 3 {
		start(http.MethodPost, httpgatetest.ToolCall)
	}
	for range 2 {
		start(http.MethodGet, "")
	}
	gatewaytest.Eventually(t, "the other goroutine", func() bool { return open.Load() == 5 })
	if m := g.Post(t, httpgatetest.ToolCall).Terminal(t, "7"); httpgatetest.CodeOf(m) != "TOO_MANY_CALLS" {
		t.Errorf("%s", m.Bytes())
	}
	if got := httpgatetest.Send(t, http.MethodGet, g.URL, ""); got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	close(hold)
}
