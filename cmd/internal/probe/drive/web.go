package drive

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// The protocol versions to ask for, with sessions and without.
const (
	versionSession   = "2025-11-25"
	versionStateless = "2026-07-28"
)

// web is a link over streamable HTTP. A message is a POST, and its answers come in the response.
type web struct {
	*client
	url  string
	came chan arrival

	mu           sync.Mutex
	version      string                   // guarded by mu; "" until it is negotiated
	session      string                   // guarded by mu
	greeting     []byte                   // guarded by mu; the initialize request, to start another session
	headerParams map[string][]headerParam // guarded by mu; by tool
}

func openWeb(t Target, version string) (*web, error) {
	at, err := parseAddress(t.URL)
	if err != nil {
		return nil, err
	}
	return &web{client: newClient(t), url: at.String(), came: make(chan arrival), version: version}, nil
}

func (w *web) send(ctx context.Context, turn int, message []byte) error {
	m := wire.Parse(message, wire.Limits{})
	if m.MethodIs("initialize") {
		w.mu.Lock()
		w.greeting, w.session = message, ""
		w.mu.Unlock()
	}
	lost, err := w.post(ctx, turn, &m, true)
	if err == nil && lost && w.renew(ctx) == nil {
		_, err = w.post(ctx, turn, &m, false)
	}
	return err
}

// post sends a message and passes its answers on. lost reports that the server does not know the session any more; this is reported only if
// first is set, and the answer is then not passed on.
func (w *web) post(ctx context.Context, turn int, m *wire.Message, first bool) (lost bool, err error) {
	r, err := w.do(ctx, http.MethodPost, w.url, m.Bytes(), w.header(m))
	if err != nil {
		return false, err
	}
	defer func() { _ = r.Body.Close() }()
	pass := func(a arrival) bool {
		a.turn, a.status, a.retryAfter = turn, r.StatusCode, r.Header.Get("Retry-After")
		select {
		case w.came <- a:
			return true
		case <-ctx.Done():
			return false
		}
	}
	w.mu.Lock()
	had := w.session != ""
	if id := r.Header.Get("Mcp-Session-Id"); id != "" && m.MethodIs("initialize") {
		w.session = id
	}
	w.mu.Unlock()
	if isEventStream(r) {
		return false, events(r.Body, pass, func(string, []byte) {})
	}
	a, err := body(r)
	switch {
	case err != nil:
		return false, err
	case first && had && r.StatusCode == http.StatusNotFound && !answers(a.message):
		return true, nil
	}
	a.whole = len(a.message) > 0 || r.StatusCode >= http.StatusMultipleChoices
	pass(a)
	return false, nil
}

// answers reports whether a body is an answer to a request, by its id, and so not about the session.
func answers(body []byte) bool {
	m := wire.Parse(body, wire.Limits{})
	return m.ID() != nil && !m.ID().IsNull()
}

// sessionID returns the session id, "" if there is none.
func (w *web) sessionID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.session
}

// renew starts another session, as a client must if the server does not know its session.
func (w *web) renew(ctx context.Context) error {
	w.mu.Lock()
	greeting := wire.Parse(w.greeting, wire.Limits{})
	w.session = ""
	w.mu.Unlock()
	for _, m := range []wire.Message{greeting, wire.Parse([]byte(initialized), wire.Limits{})} {
		r, err := w.do(ctx, http.MethodPost, w.url, m.Bytes(), w.header(&m))
		if err != nil {
			return err
		}
		if id := r.Header.Get("Mcp-Session-Id"); id != "" {
			w.mu.Lock()
			w.session = id
			w.mu.Unlock()
		}
		_, err = io.Copy(io.Discard, io.LimitReader(r.Body, maxMessage))
		_ = r.Body.Close()
		if err != nil {
			return err
		}
		if r.StatusCode >= http.StatusMultipleChoices {
			return fmt.Errorf("starting another session: HTTP %d", r.StatusCode)
		}
	}
	return nil
}

// header returns the headers that the protocol version requires for a message.
func (w *web) header(m *wire.Message) http.Header {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, "+eventStream)
	if m.MethodIs("initialize") {
		return h
	}
	if w.version != "" {
		h.Set("Mcp-Protocol-Version", w.version)
	}
	if w.session != "" {
		h.Set("Mcp-Session-Id", w.session)
	}
	if w.version != versionStateless {
		return h
	}
	if method := m.Method(); method != nil {
		h.Set("Mcp-Method", printable(string(method)))
	}
	for _, name := range []string{"name", "uri"} {
		if text, ok := m.Params().Path(name).Str(); ok {
			h.Set("Mcp-Name", printable(text))
		}
	}
	setParamHeaders(h, m, w.headerParams)
	return h
}

// headerParam sets the arguments to repeat in headers.
func (w *web) headerParam(tools []probe.Tool) {
	wanted := headerParamsOf(tools)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.headerParams = wanted
}

// The marks of an encoded header value.
const encodedOpen, encodedClose = "=?base64?", "?="

// printable encodes a text for a header if it is not printable, has space at its ends, or looks like an encoded value.
func printable(text string) string {
	odd := func(r rune) bool { return r < ' ' || r >= 0x7f }
	if strings.ContainsFunc(text, odd) || strings.TrimSpace(text) != text || strings.HasPrefix(text, encodedOpen) && strings.HasSuffix(text, encodedClose) {
		return encodedOpen + base64.StdEncoding.EncodeToString([]byte(text)) + encodedClose
	}
	return text
}

func (w *web) arrivals() <-chan arrival { return w.came }
func (w *web) exchanges() bool          { return true }

func (w *web) agreed(version string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version = version
}

// close ends the session on the server if patient is set.
func (w *web) close(patient bool) {
	defer w.client.close()
	w.mu.Lock()
	session, h := w.session, http.Header{}
	h.Set("Mcp-Session-Id", session)
	h.Set("Mcp-Protocol-Version", w.version)
	w.mu.Unlock()
	if session == "" || !patient {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endByItself)
	defer cancel()
	if r, err := w.do(ctx, http.MethodDelete, w.url, nil, h); err == nil {
		_ = r.Body.Close()
	}
}
