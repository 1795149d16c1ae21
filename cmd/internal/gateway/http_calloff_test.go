package gateway_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

// obedient is an upstream with sessions that gives no answer to a call: it waits for the word that nobody wants one. Arrived hears of
// each such call, relayed of each word.
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

func TestACallThatTheClientCallsOffOverHTTPIsNoFailureOfTheServer(t *testing.T) {
	session := []string{"Mcp-Session-Id", "s"}
	for _, row := range []struct {
		name   string
		begins bool
		ask    func(t *testing.T, g *gate) (ended func())
	}{
		{"before its answer began", false, func(t *testing.T, g *gate) func() {
			answered := make(chan reply, 1)
			go func() { answered <- g.post(t, toolCall, session...) }()
			return func() {
				if got := <-answered; got.status != http.StatusOK || len(got.body) > 0 || got.err != nil {
					t.Errorf("it was answered: %d %s %v", got.status, got.body, got.err)
				}
			}
		}},
		{"on its stream", true, func(t *testing.T, g *gate) func() {
			s := open(t, http.MethodPost, g.URL, toolCall, session...)
			return func() {
				if e, err := s.Next(); !errors.Is(err, io.EOF) {
					t.Errorf("it was answered: %s %v", e.Raw, err)
				}
			}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			arrived, relayed := make(chan struct{}, 1), make(chan struct{}, 1)
			g := newGate(t, obedient(row.begins, arrived, relayed),
				gateway.Options{Timeout: time.Hour, Breaker: gateway.BreakerPolicy{Failures: 1, Rest: time.Hour}}, gateway.HTTPOptions{})
			g.post(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, session...)
			ended := row.ask(t, g)
			<-arrived
			if got := g.post(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, session...); got.status != http.StatusAccepted {
				t.Errorf("the word was answered with %d", got.status)
			}
			<-relayed
			ended()
			if got := g.codes(); !slices.Equal(got, []string{"candor/CANCELLED"}) {
				t.Errorf("recorded %v", got)
			}
			if got := g.post(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, session...); codeOf(got.terminal(t, "1")) != "" {
				t.Errorf("the server rests: %s", got.body)
			}
		})
	}
}

// TestAStrangerWhoGuessesASessionCallsNothingOff: only the server knows whose a session is, and it has not been asked.
func TestAStrangerWhoGuessesASessionCallsNothingOff(t *testing.T) {
	arrived, relayed := make(chan struct{}, 1), make(chan struct{}, 1)
	g := newGate(t, obedient(false, arrived, relayed), gateway.Options{Timeout: time.Hour}, gateway.HTTPOptions{})
	owner := []string{"Mcp-Session-Id", "s", "Authorization", "Bearer owner"}
	g.post(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, owner...)
	answered := make(chan reply, 1)
	go func() { answered <- g.post(t, toolCall, owner...) }()
	<-arrived
	const word = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`
	for _, stranger := range [][]string{{"Mcp-Session-Id", "s"}, {"Mcp-Session-Id", "s", "Authorization", "Bearer stranger"}} {
		g.post(t, word, stranger...)
		<-relayed
		if got := g.codes(); len(got) > 0 {
			t.Errorf("%v called it off: %v", stranger, got)
		}
	}
	g.post(t, word, owner...)
	<-relayed
	<-answered
}

func TestOnlyACallOfTheSameSessionIsCalledOff(t *testing.T) {
	arrived, relayed := make(chan struct{}, 1), make(chan struct{}, 1)
	g := newGate(t, obedient(false, arrived, relayed), gateway.Options{Timeout: time.Hour}, gateway.HTTPOptions{})
	g.post(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Mcp-Session-Id", "s")
	answered := make(chan reply, 1)
	go func() { answered <- g.post(t, toolCall, "Mcp-Session-Id", "s") }()
	<-arrived
	const word = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`
	for _, other := range [][2]string{{"t", "7"}, {"s", `"7"`}, {"s", "8"}} {
		g.post(t, fmt.Sprintf(word, other[1]), "Mcp-Session-Id", other[0])
		<-relayed
		if got := g.codes(); len(got) > 0 {
			t.Errorf("session %s called %s off: %v", other[0], other[1], got)
		}
	}
	g.post(t, fmt.Sprintf(word, "7"), "Mcp-Session-Id", "s")
	<-answered
}

func TestACallOfALegacySessionCanBeCalledOff(t *testing.T) {
	messages, say := make(chan string, 4), make(chan string)
	g := newGate(t, legacyServer("/messages", messages, say), gateway.Options{Timeout: time.Hour}, gateway.HTTPOptions{})
	s := open(t, http.MethodGet, g.URL, "")
	address := g.URL + string(s.next(t).Data)
	send(t, http.MethodPost, address, toolCall)
	send(t, http.MethodPost, address, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	if got := g.codes(); !slices.Equal(got, []string{"candor/CANCELLED"}) {
		t.Errorf("recorded %v", got)
	}
	for _, want := range []string{"tools/call", "notifications/cancelled"} {
		if got := <-messages; !strings.Contains(got, want) {
			t.Errorf("the server got %s, not %s", got, want)
		}
	}
}
