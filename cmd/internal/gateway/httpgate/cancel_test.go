package httpgate_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

// obedient is an upstream with sessions that does not answer a call, but waits for its cancellation. It sends to arrived for each
// call and to relayed for each cancellation.
func obedient(begins bool, arrived, relayed chan<- struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Mcp-Session-Id", "s")
		switch {
		case bytes.Contains(body, []byte("notifications/cancelled")):
			w.WriteHeader(http.StatusAccepted)
			relayed <- struct{}{}
		case bytes.Contains(body, []byte("tools/call")):
			if begins {
				w.Header().Set("Content-Type", "text/event-stream")
				_ = http.NewResponseController(w).Flush()
			}
			arrived <- struct{}{}
			<-r.Context().Done()
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		}
	})
}

func TestCancelledCallIsNotAFailureOfTheServer(t *testing.T) {
	session := []string{"Mcp-Session-Id", "s"}
	for _, row := range []struct {
		name   string
		begins bool
		ask    func(t *testing.T, g *httpgatetest.Gate) (ended func())
	}{
		{"before its answer began", false, func(t *testing.T, g *httpgatetest.Gate) func() {
			answered := make(chan httpgatetest.Reply, 1)
			go func() { answered <- g.Post(t, httpgatetest.ToolCall, session...) }()
			return func() {
				if got := <-answered; got.Status != http.StatusOK || len(got.Body) > 0 || got.Err != nil {
					t.Errorf("it was answered: %d %s %v", got.Status, got.Body, got.Err)
				}
			}
		}},
		{"on its stream", true, func(t *testing.T, g *httpgatetest.Gate) func() {
			s := open(t, http.MethodPost, g.URL, httpgatetest.ToolCall, session...)
			return func() {
				if e, err := s.Next(); !errors.Is(err, io.EOF) {
					t.Errorf("it was answered: %s %v", e.Raw, err)
				}
			}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			arrived, relayed := make(chan struct{}, 1), make(chan struct{}, 1)
			g := httpgatetest.NewGate(t, obedient(row.begins, arrived, relayed),
				gateway.Options{Timeout: time.Hour, Breaker: gateway.BreakerPolicy{Failures: 1, TrialInterval: time.Hour}}, httpgate.Options{})
			g.Post(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, session...)
			ended := row.ask(t, g)
			<-arrived
			if got := g.Post(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, session...); got.Status != http.StatusAccepted {
				t.Errorf("the word was answered with %d", got.Status)
			}
			<-relayed
			ended()
			if got := g.Codes(); !slices.Equal(got, []string{"candor/CANCELLED"}) {
				t.Errorf("recorded %v", got)
			}
			if got := g.Post(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, session...); httpgatetest.CodeOf(got.Terminal(t, "1")) != "" {
				t.Errorf("the server rests: %s", got.Body)
			}
		})
	}
}

// TestOtherCallerOfASessionCannotCancelItsCalls checks that a cancellation needs the same credentials, because only the server could verify
// the session.
func TestOtherCallerOfASessionCannotCancelItsCalls(t *testing.T) {
	arrived, relayed := make(chan struct{}, 1), make(chan struct{}, 1)
	g := httpgatetest.NewGate(t, obedient(false, arrived, relayed), gateway.Options{Timeout: time.Hour}, httpgate.Options{})
	owner := []string{"Mcp-Session-Id", "s", "Authorization", "Bearer owner"}
	g.Post(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, owner...)
	answered := make(chan httpgatetest.Reply, 1)
	go func() { answered <- g.Post(t, httpgatetest.ToolCall, owner...) }()
	<-arrived
	const word = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`
	for _, stranger := range [][]string{{"Mcp-Session-Id", "s"}, {"Mcp-Session-Id", "s", "Authorization", "Bearer stranger"}} {
		g.Post(t, word, stranger...)
		<-relayed
		if got := g.Codes(); len(got) > 0 {
			t.Errorf("%v called it off: %v", stranger, got)
		}
	}
	g.Post(t, word, owner...)
	<-relayed
	<-answered
}

func TestCallOfALegacySessionCanBeCancelled(t *testing.T) {
	messages, say := make(chan string, 4), make(chan string)
	g := httpgatetest.NewGate(t, legacyServer("/messages", messages, say), gateway.Options{Timeout: time.Hour}, httpgate.Options{})
	s := open(t, http.MethodGet, g.URL, "")
	address := g.URL + string(s.next(t).Data)
	httpgatetest.Send(t, http.MethodPost, address, httpgatetest.ToolCall)
	httpgatetest.Send(t, http.MethodPost, address, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	if got := g.Codes(); !slices.Equal(got, []string{"candor/CANCELLED"}) {
		t.Errorf("recorded %v", got)
	}
	for _, want := range []string{"tools/call", "notifications/cancelled"} {
		if got := <-messages; !strings.Contains(got, want) {
			t.Errorf("the server got %s, not %s", got, want)
		}
	}
}
