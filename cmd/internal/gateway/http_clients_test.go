package gateway_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/wire"
)

func dialGate(t *testing.T, g *gate) net.Conn {
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
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn
}

// echo answers every call with the arguments it came with, or fails with them, on a stream or in one piece.
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
	g := newGate(t, http.HandlerFunc(echo), gateway.Options{Breaker: gateway.BreakerPolicy{Off: true}, Repeats: gateway.RepeatPolicy{Off: true}},
		gateway.HTTPOptions{})
	ids := []string{"1", `"1"`, "1.0", "9007199254740993", "9223372036854775808", `"\u0031a"`}
	var failed, group = new(atomic.Int64), sync.WaitGroup{}
	for client := range 64 {
		group.Go(func() {
			for n := range 60 * *hostile {
				who := fmt.Sprintf("client %d call %d.", client, n)
				id := ids[n%len(ids)]
				got := g.post(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"t","arguments":{"who":%q,"n":%d}}}`, id, who, n))
				m := got.terminal(t, id)
				if !strings.Contains(string(m.Bytes()), who) {
					t.Errorf("%s was answered %s", who, m.Bytes())
				}
				if codeOf(m) != "" {
					failed.Add(1)
				}
			}
		})
	}
	group.Wait()
	if failed.Load() == 0 {
		t.Error("nothing failed")
	}
	g.balanced(t, int(failed.Load()))
}

func TestAClientThatGoesAwayCallsOffItsCall(t *testing.T) {
	for _, kind := range []string{"application/json", "text/event-stream"} {
		seen := make(chan struct{})
		ctx, leave := context.WithCancel(t.Context())
		g := newGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", kind)
			_ = http.NewResponseController(w).Flush()
			leave()
			<-r.Context().Done()
			close(seen)
		}), gateway.Options{}, gateway.HTTPOptions{})
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, g.URL, strings.NewReader(toolCall))
		r.Header.Set("Content-Type", "application/json")
		if res, err := http.DefaultClient.Do(r); err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
		<-seen
		waitFor(t, func() bool { return len(g.codes()) == 1 })
		if g.codes()[0] != "candor/CANCELLED" {
			t.Errorf("%v", g.codes())
		}
		g.balanced(t, 0)
	}
}

// waitFor waits for what another goroutine is about to do.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not happen")
		}
	}
}

func TestR10SlowReadersHoldNoMoreThanTheyAreGiven(t *testing.T) {
	const size = 8 << 20
	readers := 40 * *hostile
	text := strings.Repeat("x", size)
	g := newGate(t, says(200, "application/json", `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"`+text+`"}]}}`),
		gateway.Options{Timeout: 2 * time.Second}, gateway.HTTPOptions{Patience: 2 * time.Second})
	request := fmt.Sprintf("POST /door HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(toolCall), toolCall)
	for range readers {
		conn := dialGate(t, g)
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4096)
		}
		_, _ = io.WriteString(conn, request) // and reads nothing
	}
	var peak uint64
	for range 20 {
		time.Sleep(50 * time.Millisecond)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapInuse)
	}
	if peak > 128<<20 {
		t.Errorf("%d MiB are held for %d slow readers", peak>>20, readers)
	}
}

// Sessions are begun and never used again, by clients that never say goodbye.
func TestR10AbandonedSessionsHoldNothing(t *testing.T) {
	var n atomic.Int64
	g := newGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", n.Add(1)))
		says(200, "application/json", good).ServeHTTP(w, r)
	}), gateway.Options{}, gateway.HTTPOptions{Sessions: 100})
	refused := 0
	for range 400 * *hostile {
		m := g.post(t, `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}`).terminal(t, "7")
		switch codeOf(m) {
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
	g.balanced(t, refused)
}

func TestSessionsAreCappedAndForgotten(t *testing.T) {
	var n atomic.Int64
	g := newGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", n.Add(1)))
		says(200, "application/json", good).ServeHTTP(w, r)
	}), gateway.Options{}, gateway.HTTPOptions{Sessions: 10, Rest: 300 * time.Millisecond})
	const begin = `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}`
	for range 10 {
		if m := g.post(t, begin).terminal(t, "7"); codeOf(m) != "" {
			t.Fatalf("%s", m.Bytes())
		}
	}
	if m := g.post(t, begin).terminal(t, "7"); codeOf(m) != "TOO_MANY_SESSIONS" {
		t.Errorf("%s", m.Bytes())
	}
	if got := send(t, http.MethodDelete, g.URL, "", "Mcp-Session-Id", "s3"); got.status != 200 {
		t.Errorf("%d", got.status)
	}
	if m := g.post(t, begin).terminal(t, "7"); codeOf(m) != "" {
		t.Errorf("after a goodbye: %s", m.Bytes())
	}
	waitFor(t, func() bool { return codeOf(g.post(t, begin).terminal(t, "7")) == "" })
}

func TestTooManyOpenCallsAndStreamsAreRefused(t *testing.T) {
	hold := make(chan struct{})
	var open atomic.Int64
	g := newGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		open.Add(1)
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}), gateway.Options{}, gateway.HTTPOptions{Calls: 3, Streams: 2})
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
		start(http.MethodPost, toolCall)
	}
	for range 2 {
		start(http.MethodGet, "")
	}
	waitFor(t, func() bool { return open.Load() == 5 })
	if m := g.post(t, toolCall).terminal(t, "7"); codeOf(m) != "TOO_MANY_CALLS" {
		t.Errorf("%s", m.Bytes())
	}
	if got := send(t, http.MethodGet, g.URL, ""); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("%d %s", got.status, got.body)
	}
	close(hold)
}
