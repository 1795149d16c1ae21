// Package httpgatetest runs an HTTP gateway in front of a server that a test defines.
package httpgatetest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/gatewaytest"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

// Gate is an HTTP gateway over real sockets, in front of a test's handler.
type Gate struct {
	*gatewaytest.Books
	Up   *gateway.Upstream
	URL  string
	Back *httptest.Server
}

// NewGate starts a gateway in front of a handler.
func NewGate(t *testing.T, upstream http.Handler, o gateway.Options, h httpgate.Options) *Gate {
	t.Helper()
	back := httptest.NewServer(upstream)
	t.Cleanup(back.Close)
	return GateTo(t, back, o, h)
}

// GateTo starts a gateway in front of a server.
func GateTo(t *testing.T, back *httptest.Server, o gateway.Options, h httpgate.Options) *Gate {
	t.Helper()
	g := &Gate{Books: &gatewaytest.Books{}, Back: back}
	o.Name, o.Ledger, o.Meter = "upstream", g.Books, g.Books
	target, err := url.Parse(back.URL + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	g.Up = gateway.New(o)
	front := httptest.NewServer(httpgate.New(g.Up, target, h))
	t.Cleanup(func() {
		front.CloseClientConnections()
		back.CloseClientConnections()
		front.Close()
	})
	g.URL = front.URL + "/door"
	return g
}

// Reply is a complete response.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
	Err    error // error from reading the body
}

// TestTransport keeps enough idle connections for many concurrent callers.
var TestTransport = &http.Transport{MaxIdleConnsPerHost: 64}

// Send sends a request and reads the whole response.
func Send(t *testing.T, method, address, body string, header ...string) Reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), gatewaytest.TooLong)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	res, err := TestTransport.RoundTrip(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, address, err)
	}
	defer func() { _ = res.Body.Close() }()
	got, err := io.ReadAll(res.Body)
	return Reply{Status: res.StatusCode, Header: res.Header, Body: got, Err: err}
}

// Post posts a message to the gateway.
func (g *Gate) Post(t *testing.T, body string, header ...string) Reply {
	t.Helper()
	return Send(t, http.MethodPost, g.URL, body, header...)
}

// Messages returns the JSON-RPC messages of an answer, sent as events or as one body.
func (r Reply) Messages(t *testing.T) []wire.Message {
	t.Helper()
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
		if len(r.Body) == 0 {
			return nil
		}
		return []wire.Message{wire.Parse(r.Body, wire.Limits{})}
	}
	var all []wire.Message
	events := framing.NewEventReader(bytes.NewReader(r.Body), wire.Limits{})
	for {
		e, err := events.Next()
		if err != nil {
			return all
		}
		if len(e.Data) > 0 && (len(e.Type) == 0 || string(e.Type) == "message") {
			m := wire.Parse(e.Data, wire.Limits{})
			all = append(all, m.Clone())
		}
	}
}

// Terminal returns the answer to a call, and fails if there is none or more than one.
func (r Reply) Terminal(t *testing.T, id string) wire.Message {
	t.Helper()
	var found []wire.Message
	for _, m := range r.Messages(t) {
		if (m.Kind() == wire.KindResult || m.Kind() == wire.KindError) && string(m.ID()) == id {
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		t.Fatalf("call %s has %d answers in %d %s", id, len(found), r.Status, r.Body)
	}
	return found[0]
}

// CodeOf returns the code of the envelope in an answer, or "" if it has none.
func CodeOf(m wire.Message) string {
	code, _ := gatewaytest.Envelope(m).Path("code").Str()
	return code
}

// ToolCall is a tools/call request with id 7.
const ToolCall = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read","arguments":{"path":"a"}}}`

// Says returns an upstream that answers every POST in the same way.
func Says(status int, kind, body string, header ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", kind)
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// OnlyMessage returns the only message of an answer.
func OnlyMessage(t *testing.T, r Reply) string {
	t.Helper()
	all := r.Messages(t)
	if len(all) != 1 {
		t.Fatalf("%d messages in %d %s", len(all), r.Status, r.Body)
	}
	return string(all[0].Bytes())
}

// EnvelopeIn returns the canonical error of an answer.
func EnvelopeIn(t *testing.T, answer string) wire.Value {
	t.Helper()
	e := gatewaytest.Envelope(wire.Parse([]byte(answer), wire.Limits{}))
	if e.Type() != wire.TypeObject {
		t.Fatalf("no envelope in %s", answer)
	}
	return e
}

// Front returns a server that serves the gate as an upstream of another gate.
func (g *Gate) Front(t *testing.T) *httptest.Server {
	t.Helper()
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got := g.Post(t, string(body))
		w.Header().Set("Content-Type", got.Header.Get("Content-Type"))
		w.WriteHeader(got.Status)
		_, _ = w.Write(got.Body)
	}))
	t.Cleanup(relay.Close)
	return relay
}

// Redacting lists the modes to which target R12 applies.
var Redacting = []gateway.Mode{gateway.ModeAnnotate, gateway.ModeStrict}
