package httpgate_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

// logText is a log that a test reads.
type logText struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logText) options() gateway.Options {
	return gateway.Options{Logger: slog.New(slog.NewTextHandler(l, nil))}
}

// streamOf answers a GET with events and accepts every POST.
func streamOf(events string, end <-chan struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, events)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-end:
		}
	})
}

// rest returns the events up to the end of the stream.
func (s stream) rest(t *testing.T) (all []framing.Event) {
	t.Helper()
	for {
		e, err := s.Next()
		if err == io.EOF { //nolint:errorlint // an orderly end, not one that is wrapped
			return all
		}
		if err != nil {
			t.Fatalf("the stream did not end in order: %v", err)
		}
		all = append(all, framing.Event{Raw: bytes.Clone(e.Raw), Type: bytes.Clone(e.Type), Data: bytes.Clone(e.Data)})
	}
}

// refusal checks that a stream ended with an error event and no other address.
func refusal(t *testing.T, name string, events []framing.Event, code string) {
	t.Helper()
	for _, e := range events {
		if strings.Contains(strings.ToLower(string(e.Type)), "endpoint") {
			t.Errorf("%s: the client got %q", name, e.Raw)
		}
	}
	if len(events) == 0 {
		t.Errorf("%s: the stream ended without an error", name)
		return
	}
	last := events[len(events)-1]
	if m := wire.Parse(last.Data, wire.Limits{}); string(last.Type) != "error" || httpgatetest.CodeOf(m) != code {
		t.Errorf("%s: %q", name, last.Raw)
	}
}

// A second address, such as one of another upstream of the same gateway, would get the client's credentials.
func TestSecondEndpointDoesNotRerouteCalls(t *testing.T) {
	for name, second := range map[string]string{
		"a path": "event: endpoint\ndata: /other/\n\n", "relative": "event: endpoint\ndata: ../other/\n\n", "with id and retry": "id: 1\nretry: 1\nevent: endpoint\ndata: /other/\n\n",
		"after messages": "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\nevent: endpoint\ndata: /other/\n\n", "another origin": "event: endpoint\ndata: http://evil.example/\n\n",
	} {
		g := httpgatetest.NewGate(t, streamOf("event: endpoint\ndata: /messages\n\n"+second, nil), gateway.Options{}, httpgate.Options{})
		s := open(t, http.MethodGet, g.URL, "")
		if e := s.next(t); string(e.Type) != "endpoint" {
			t.Fatalf("%s", e.Raw)
		}
		refusal(t, name, s.rest(t), "UPSTREAM_BAD_RESPONSE")
	}
}

func TestRefusedEndpointEndsTheStreamWithAnError(t *testing.T) {
	for name, endpoint := range map[string]string{
		"another host":              "http://evil.example/messages",
		"another host, no scheme":   "//evil.example/x",
		"another host, user":        "http://127.0.0.1@evil.example/x",
		"another port":              "http://127.0.0.1:1/x",
		"another scheme":            "https://127.0.0.1/x",
		"a file":                    "file:///etc/passwd",
		"an opaque address":         "http:evil.example",
		"a script":                  "javascript:alert(1)",
		"a control character":       "/mess\x01ages",
		"not an address":            "http://[::1",
		"an address of 10,000":      "/" + strings.Repeat("a", 10_000),
		"an address over the limit": "/" + strings.Repeat("a", 200_000),
	} {
		var log logText
		o := log.options()
		o.Limits.Message.MaxBytes = 100_000
		g := httpgatetest.NewGate(t, streamOf("event: endpoint\ndata: "+endpoint+"\n\n", nil), o, httpgate.Options{})
		events := open(t, http.MethodGet, g.URL, "").rest(t)
		refusal(t, name, events, "UPSTREAM_BAD_RESPONSE")
		for _, e := range events {
			if strings.Contains(string(e.Raw), "evil") {
				t.Errorf("%s: the client is shown the address: %q", name, e.Raw)
			}
		}
		if !strings.Contains(log.String(), "endpoint refused") {
			t.Errorf("%s: the log has %q", name, log.String())
		}
		g.CheckTotals(t, 1)
	}
}

func TestEndpointOnTheServersOriginIsReplacedByOurs(t *testing.T) {
	for name, endpoint := range map[string]string{
		"a path": "/messages?session=1", "relative": "messages", "a query": "?session=1", "absolute": "http://HOST/m", "no scheme": "//HOST/m",
		"a scheme in capitals": "HTTP://HOST/m", "with a user": "http://user:pw@HOST/m",
	} {
		end := make(chan struct{})
		var back *httptest.Server
		back = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			at := strings.Replace(endpoint, "HOST", strings.TrimPrefix(back.URL, "http://"), 1)
			said := "retry: 5\nid: 1\nevent: endpoint\ndata: " + at + "\n\n"
			streamOf(": hello\n\n"+said+said, end).ServeHTTP(w, r) // the same address again has no effect
		}))
		t.Cleanup(back.Close)
		g := httpgatetest.GateTo(t, back, gateway.Options{}, httpgate.Options{})
		s := open(t, http.MethodGet, g.URL, "")
		e := s.next(t)
		if string(e.Type) != "endpoint" || !strings.HasPrefix(string(e.Data), "?candor=") || string(e.ID) != "1" || e.Retry != 5 {
			t.Errorf("%s: %q", name, e.Raw)
		}
		close(end)
		if rest := s.rest(t); len(rest) > 0 {
			t.Errorf("%s: %q", name, rest[0].Raw)
		}
		if codes := g.Codes(); len(codes) > 0 {
			t.Errorf("%s: %v", name, codes)
		}
	}
}

// An address of the server is not forwarded on any stream, however the event type is written.
func TestEndpointPassesOnNoStream(t *testing.T) {
	odd := "event: Endpoint\ndata: /other/\n\nevent: endpoint \ndata: /other/\n\n"
	end := make(chan struct{})
	close(end)
	g := httpgatetest.NewGate(t, streamOf(odd, end), gateway.Options{}, httpgate.Options{})
	if got := httpgatetest.Send(t, http.MethodGet, g.URL, ""); strings.Contains(string(got.Body), "/other/") {
		t.Errorf("odd types: %s", got.Body)
	}
	const plain = "event: endpoint\ndata: /other/\n\n"
	g = httpgatetest.NewGate(t, httpgatetest.Says(200, "text/event-stream", plain+"data: "+good+"\n\n", "Mcp-Session-Id", "s1"), gateway.Options{}, httpgate.Options{})
	if got := g.Post(t, httpgatetest.ToolCall); strings.Contains(string(got.Body), "/other/") || !strings.Contains(string(got.Body), good) {
		t.Errorf("the stream of a call: %s", got.Body)
	}
	if got := httpgatetest.Send(t, http.MethodGet, g.URL, "", "Mcp-Session-Id", "s1"); strings.Contains(string(got.Body), "/other/") {
		t.Errorf("the stream of a session: %s", got.Body)
	}
}

func TestLegacySessionBeyondTheLimitIsRefused(t *testing.T) {
	g := httpgatetest.NewGate(t, streamOf("event: endpoint\ndata: /messages\n\n", nil), gateway.Options{}, httpgate.Options{Sessions: 1})
	first := open(t, http.MethodGet, g.URL, "")
	first.next(t)
	refusal(t, "the second", open(t, http.MethodGet, g.URL, "").rest(t), "TOO_MANY_SESSIONS")
}
