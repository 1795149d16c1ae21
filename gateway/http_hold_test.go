package gateway_test

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/gateway"
)

// askAndLeaveUnread makes a call and reads nothing of the answer.
func askAndLeaveUnread(t *testing.T, g *gate) {
	t.Helper()
	conn := dialGate(t, g)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4096) // or the system would read it all
	}
	_, err := fmt.Fprintf(conn, "POST /door HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		len(toolCall), toolCall)
	if err != nil {
		t.Fatal(err)
	}
}

// TestWhoFindsNoRoomForItsAnswerIsToldSo while somebody else does not read: in one piece or on a stream, announced or not.
func TestWhoFindsNoRoomForItsAnswerIsToldSo(t *testing.T) {
	answer := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 6<<20) + `"}]}}`
	for name, upstream := range map[string]http.Handler{
		"announced": says(200, "application/json", answer, "Content-Length", fmt.Sprint(len(answer))),
		"in chunks": says(200, "application/json", answer),
		"an event":  says(200, "text/event-stream", "data: "+answer+"\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate(t, upstream, gateway.Options{}, gateway.HTTPOptions{Hold: 8 << 20, Patience: time.Second})
			waitFor(t, func() bool {
				for range 3 { // one of them holds its answer when the others have waited long enough
					askAndLeaveUnread(t, g)
				}
				code := codeOf(g.post(t, toolCall).terminal(t, "7"))
				if code != "" && code != "TOO_MANY_CALLS" {
					t.Fatal(code)
				}
				return code != ""
			})
			if codes := g.codes(); !slices.Contains(codes, "candor/TOO_MANY_CALLS") {
				t.Errorf("recorded %v", codes)
			}
			waitFor(t, func() bool { return codeOf(g.post(t, toolCall).terminal(t, "7")) == "" })
		})
	}
}

// TestAUsualCallIsAnsweredWhileLargeOnesWait for readers that do not read.
func TestAUsualCallIsAnsweredWhileLargeOnesWait(t *testing.T) {
	large := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 4<<20) + `"}]}}`
	usual := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 40<<10) + `"}]}}`
	g := newGate(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := large
		if r.Header.Get("Usual") != "" {
			answer = usual
		}
		says(200, "application/json", answer).ServeHTTP(w, r)
	}), gateway.Options{}, gateway.HTTPOptions{})
	for range 20 {
		askAndLeaveUnread(t, g)
	}
	for range 20 {
		if got := g.post(t, toolCall, "Usual", "1"); string(got.body) != usual {
			t.Fatalf("%.300s", got.body)
		}
	}
}
