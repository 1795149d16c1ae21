//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/cli/term"
	"github.com/candor-mcp/candor/wire"
)

// legacyServer uses the transport of 2024-11-05: answers are sent on the stream that the client has opened. It serves one client.
func legacyServer(t *testing.T) *httptest.Server {
	t.Helper()
	answers := make(chan string, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body) // a truncated body is not a request
			m := wire.Parse(body, wire.Limits{})
			w.WriteHeader(http.StatusAccepted)
			answers <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID())
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: endpoint\ndata: /messages?session=1\n\n")
		for {
			if err := http.NewResponseController(w).Flush(); err != nil {
				return
			}
			select {
			case <-r.Context().Done():
				return
			case answer := <-answers:
				fmt.Fprintf(w, "event: message\ndata: %s\n\n", answer)
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestLegacySessionOutlivesReload checks that calls of a session go to the endpoint that holds its stream, even after a reload.
func TestLegacySessionOutlivesReload(t *testing.T) {
	t.Parallel()
	web := legacyServer(t)
	g := newGate(t, configText(web.URL, ""))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.address+"/it/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	stream, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close() //nolint:errcheck // it was only read
	events := bufio.NewScanner(stream.Body)
	data := func() string {
		for events.Scan() {
			if text, ok := strings.CutPrefix(events.Text(), "data: "); ok {
				return text
			}
		}
		t.Fatalf("the stream has ended: %v; it said %s", events.Err(), g.said)
		return ""
	}
	endpoint := data()
	g.write(t, configText(web.URL, "    timeout: 7s\n"))
	g.signal(syscall.SIGHUP)
	g.said.await("was reloaded", 1)
	post, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.address+"/it/"+endpoint, strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	post.Header.Set("Content-Type", "application/json")
	if said, err := fetch(post); err != nil {
		t.Fatal(said, err)
	}
	if answer := data(); answer != `{"jsonrpc":"2.0","id":7,"result":{}}` {
		t.Errorf("answered %s", answer)
	}
	g.signal(syscall.SIGTERM)
	if code := g.ends(); code != term.ExitOK {
		t.Errorf("ended with %d: %s", code, g.said)
	}
}
