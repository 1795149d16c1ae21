package gateway_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/wire"
)

// books keeps what the gateway records and counts.
type books struct {
	mu         sync.Mutex
	entries    []gateway.Entry // guarded by mu, like all below
	counted    int
	suppressed int
}

func (b *books) Record(_ context.Context, e gateway.Entry) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries = append(b.entries, e)
	return nil
}

func (b *books) Count(*candor.Error, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counted++
}

func (b *books) CountSuppressed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.suppressed++
}

func (b *books) CountUnrecorded(*candor.Error) {}

// codes are the codes of the entries that are no mere attempts.
func (b *books) codes() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	codes := []string{}
	for _, e := range b.entries {
		if !e.Retried {
			codes = append(codes, e.Error.Code().String())
		}
	}
	return codes
}

// gate is a door over real sockets to an upstream that is a handler of the test.
type gate struct {
	*books
	up   *gateway.Upstream
	URL  string
	back *httptest.Server
}

func newGate(t *testing.T, upstream http.Handler, o gateway.Options, h gateway.HTTPOptions) *gate {
	t.Helper()
	back := httptest.NewServer(upstream)
	t.Cleanup(back.Close)
	return gateTo(t, back, o, h)
}

func gateTo(t *testing.T, back *httptest.Server, o gateway.Options, h gateway.HTTPOptions) *gate {
	t.Helper()
	g := &gate{books: &books{}, back: back}
	o.Name, o.Ledger, o.Meter = "upstream", g.books, g.books
	target, err := url.Parse(back.URL + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	g.up = gateway.New(o)
	front := httptest.NewServer(gateway.NewDoor(g.up, target, h))
	t.Cleanup(func() {
		front.CloseClientConnections()
		back.CloseClientConnections()
		front.Close()
	})
	g.URL = front.URL + "/door"
	return g
}

// reply is a whole answer.
type reply struct {
	status int
	header http.Header
	body   []byte
	err    error // while the body was read
}

// testTransport keeps enough connections for many callers at once.
var testTransport = &http.Transport{MaxIdleConnsPerHost: 64}

// send makes a request and reads all of the answer.
func send(t *testing.T, method, address, body string, header ...string) reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
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
	res, err := testTransport.RoundTrip(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, address, err)
	}
	defer func() { _ = res.Body.Close() }()
	got, err := io.ReadAll(res.Body)
	return reply{status: res.StatusCode, header: res.Header, body: got, err: err}
}

func (g *gate) post(t *testing.T, body string, header ...string) reply {
	t.Helper()
	return send(t, http.MethodPost, g.URL, body, header...)
}

// messages are the JSON-RPC messages of an answer, whether it came as events or in one piece.
func (r reply) messages(t *testing.T) []wire.Message {
	t.Helper()
	if !strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream") {
		if len(r.body) == 0 {
			return nil
		}
		return []wire.Message{wire.Parse(r.body, wire.Limits{})}
	}
	var all []wire.Message
	events := wire.NewEventReader(bytes.NewReader(r.body), wire.Limits{})
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

// terminal returns the one answer to a call, and fails if there are none or several.
func (r reply) terminal(t *testing.T, id string) wire.Message {
	t.Helper()
	var found []wire.Message
	for _, m := range r.messages(t) {
		if (m.Kind() == wire.KindResult || m.Kind() == wire.KindError) && string(m.ID()) == id {
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		t.Fatalf("call %s has %d answers in %d %s", id, len(found), r.status, r.body)
	}
	return found[0]
}

// codeOf is the code of the envelope in an answer, "" if it has none.
func codeOf(m wire.Message) string {
	code, ok := m.Result().Path("_meta", "dev.candor/error", "code").Str()
	if !ok {
		code, _ = m.Error().Path("data", "dev.candor/error", "code").Str()
	}
	return code
}

const toolCall = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read","arguments":{"path":"a"}}}`

// says is an upstream that answers every POST in the same way.
func says(status int, kind, body string, header ...string) http.Handler {
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

func onlyMessage(t *testing.T, r reply) string {
	t.Helper()
	all := r.messages(t)
	if len(all) != 1 {
		t.Fatalf("%d messages in %d %s", len(all), r.status, r.body)
	}
	return string(all[0].Bytes())
}

// all returns the entries so far.
func (b *books) all() []gateway.Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]gateway.Entry(nil), b.entries...)
}

// totals returns the number of entries, of counted failures and of suppressed ones.
func (b *books) totals() (entries, counted, suppressed int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.entries), b.counted, b.suppressed
}

// envelopeIn returns the canonical error of an answer.
func envelopeIn(t *testing.T, answer string) wire.Value {
	t.Helper()
	m := wire.Parse([]byte(answer), wire.Limits{})
	e := m.Result().Path("_meta", "dev.candor/error")
	if m.Kind() == wire.KindError {
		e = m.Error().Path("data", "dev.candor/error")
	}
	if e.Type() != wire.TypeObject {
		t.Fatalf("no envelope in %s", answer)
	}
	return e
}

// front returns the gate itself as an upstream of another.
func (g *gate) front(t *testing.T) *httptest.Server {
	t.Helper()
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got := g.post(t, string(body))
		w.Header().Set("Content-Type", got.header.Get("Content-Type"))
		w.WriteHeader(got.status)
		_, _ = w.Write(got.body)
	}))
	t.Cleanup(relay.Close)
	return relay
}

// balanced holds the books to the messages that were seen: each failure has an entry and a count.
func (b *books) balanced(t *testing.T, told int) {
	t.Helper()
	codes := b.codes()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(codes) != b.counted || told+b.suppressed != b.counted {
		t.Errorf("told %d + suppressed %d, entries %v, counted %d", told, b.suppressed, codes, b.counted)
	}
}

// redacting are the modes that R12 binds.
var redacting = []gateway.Mode{gateway.ModeAnnotate, gateway.ModeStrict}
