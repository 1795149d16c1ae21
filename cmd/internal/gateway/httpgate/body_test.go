package httpgate_test

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/wire"
)

// askAndLeaveUnread makes a call and does not read the answer.
func askAndLeaveUnread(t *testing.T, g *httpgatetest.Gate) {
	t.Helper()
	conn := dialGate(t, g)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4096) // otherwise the kernel would buffer all of it
	}
	_, err := fmt.Fprintf(conn, "POST /door HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		len(httpgatetest.ToolCall), httpgatetest.ToolCall)
	if err != nil {
		t.Fatal(err)
	}
}

// TestAnswerWithoutMemoryIsReported makes calls while other clients do not read their answers. Answers have a length, are chunked
// or come as an event.
func TestAnswerWithoutMemoryIsReported(t *testing.T) {
	answer := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 6<<20) + `"}]}}`
	for name, upstream := range map[string]http.Handler{
		"announced": httpgatetest.Says(200, "application/json", answer, "Content-Length", fmt.Sprint(len(answer))),
		"in chunks": httpgatetest.Says(200, "application/json", answer),
		"an event":  httpgatetest.Says(200, "text/event-stream", "data: "+answer+"\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it mostly waits
			g := httpgatetest.NewGate(t, upstream, gateway.Options{}, httpgate.Options{MessageMemory: 8 << 20, ClientTimeout: time.Second})
			gatewaytest.Eventually(t, "the other goroutine", func() bool {
				for range 3 { // one of them holds its answer when the others time out
					askAndLeaveUnread(t, g)
				}
				m := g.Post(t, httpgatetest.ToolCall).Terminal(t, "7")
				code := httpgatetest.CodeOf(m)
				if code != "" && code != "TOO_LARGE" {
					t.Fatal(code)
				}
				if code != "" && (strings.Contains(string(m.Bytes()), "afterMs") || !strings.Contains(string(m.Bytes()), "took effect")) {
					t.Errorf("the call has run, but its error advises to repeat it: %s", m.Bytes())
				}
				return code != ""
			})
			if codes := g.Codes(); !slices.Contains(codes, "candor/TOO_LARGE") {
				t.Errorf("recorded %v", codes)
			}
			gatewaytest.Eventually(t, "the other goroutine", func() bool { return httpgatetest.CodeOf(g.Post(t, httpgatetest.ToolCall).Terminal(t, "7")) == "" })
		})
	}
}

// TestAUsualCallIsAnsweredWhileLargeOnesWait uses large answers that wait for clients that do not read.
func TestAUsualCallIsAnsweredWhileLargeOnesWait(t *testing.T) {
	large := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 4<<20) + `"}]}}`
	usual := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 40<<10) + `"}]}}`
	g := httpgatetest.NewGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := large
		if r.Header.Get("Usual") != "" {
			answer = usual
		}
		httpgatetest.Says(200, "application/json", answer).ServeHTTP(w, r)
	}), gateway.Options{}, httpgate.Options{})
	for range 20 {
		askAndLeaveUnread(t, g)
	}
	for range 20 {
		if got := g.Post(t, httpgatetest.ToolCall, "Usual", "1"); string(got.Body) != usual {
			t.Fatalf("%.300s", got.Body)
		}
	}
}

// TestOpenLegacyCallsUseTheSameBudget checks open calls after their POST has ended.
func TestOpenLegacyCallsUseTheSameBudget(t *testing.T) {
	messages, say := make(chan string, 8), make(chan string)
	g := httpgatetest.NewGate(t, legacyServer("/messages", messages, say), gateway.Options{Timeout: time.Hour},
		httpgate.Options{MessageMemory: 8 << 20, ClientTimeout: time.Second})
	s := open(t, http.MethodGet, g.URL, "")
	address := g.URL + string(s.next(t).Data)
	large := func(id int) httpgatetest.Reply {
		return httpgatetest.Send(t, http.MethodPost, address, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{"x":%q}}}`,
			id, strings.Repeat("x", 2<<20)))
	}
	if got := large(1); got.Status != http.StatusAccepted {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	if got := large(2); got.Status != http.StatusServiceUnavailable || !slices.Contains(g.Codes(), "candor/UNAVAILABLE") {
		t.Errorf("%d %s, recorded %v", got.Status, got.Body, g.Codes())
	}
	say <- `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`
	if e := s.next(t); !strings.Contains(string(e.Data), `"id":1,`) {
		t.Errorf("%s", e.Raw)
	}
	if got := large(3); got.Status != http.StatusAccepted {
		t.Errorf("the room of an answered call is not free: %d %s", got.Status, got.Body)
	}
}

func TestCallsThatALegacyServerHasNotAnsweredAreCounted(t *testing.T) {
	messages, say := make(chan string, 8), make(chan string)
	g := httpgatetest.NewGate(t, legacyServer("/messages", messages, say), gateway.Options{Timeout: time.Hour}, httpgate.Options{Calls: 1})
	s := open(t, http.MethodGet, g.URL, "")
	address := g.URL + string(s.next(t).Data)
	ask := func(id string) {
		t.Helper()
		if got := httpgatetest.Send(t, http.MethodPost, address, strings.Replace(httpgatetest.ToolCall, "7", id, 1)); got.Status != http.StatusAccepted {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	}
	ask("1")
	ask("2")
	if m := wire.Parse(s.next(t).Data, wire.Limits{}); httpgatetest.CodeOf(m) != "TOO_MANY_CALLS" || string(m.ID()) != "2" {
		t.Errorf("%s", m.Bytes())
	}
	say <- `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`
	s.next(t)
	ask("3")
	say <- `{"jsonrpc":"2.0","id":3,"result":{"content":[]}}`
	if m := wire.Parse(s.next(t).Data, wire.Limits{}); httpgatetest.CodeOf(m) != "" || string(m.ID()) != "3" {
		t.Errorf("%s", m.Bytes())
	}
}
