package mcpclient

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/candor-mcp/candor/wire"
)

// HTTP is a connection over streamable HTTP. A message is a POST, and its answers come in the response.
type HTTP struct {
	web
	url  string
	came chan Message

	mu       sync.Mutex // guards the fields below
	version  string     // "" until it is negotiated
	session  string
	greeting []byte // the initialize request, to start another session
}

// OpenHTTP returns a connection to the server at url. It sends nothing.
func OpenHTTP(url string, o HTTPOptions) *HTTP {
	return &HTTP{web: newWeb(o), url: url, came: make(chan Message)}
}

// Send implements [Conn].
func (c *HTTP) Send(ctx context.Context, tag int, message []byte) error {
	m := wire.Parse(message, wire.Limits{})
	if m.MethodIs("initialize") {
		c.mu.Lock()
		c.greeting, c.session = message, ""
		c.mu.Unlock()
	}
	lost, err := c.post(ctx, tag, &m, c.o.Renew)
	if err == nil && lost && c.renew(ctx) == nil {
		_, err = c.post(ctx, tag, &m, false)
	}
	return err
}

// post sends a message and passes its answers on. lost reports that the server does not know the session; this is
// reported only if renewing is set, and the answer is then not passed on.
func (c *HTTP) post(ctx context.Context, tag int, m *wire.Message, renewing bool) (lost bool, err error) {
	had := c.Session() != ""
	r, err := c.Do(ctx, http.MethodPost, m.Bytes(), nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = r.Body.Close() }()
	pass := func(a Message) bool {
		a.Tag = tag
		a.ofResponse(r)
		select {
		case c.came <- a:
			return true
		case <-ctx.Done():
			return false
		}
	}
	if mediaType(r) == eventStream {
		return false, c.events(r.Body, pass, func(string, []byte) {})
	}
	a, err := c.body(r)
	switch {
	case err != nil:
		return false, err
	case renewing && had && r.StatusCode == http.StatusNotFound && !IsAnswer(a.Data):
		return true, nil
	}
	a.Body = len(a.Data) > 0 || r.StatusCode >= http.StatusMultipleChoices
	pass(a)
	return false, nil
}

// IsAnswer reports whether a body is an answer to a request, by its id, and so not about the session.
func IsAnswer(body []byte) bool {
	m := wire.Parse(body, wire.Limits{})
	return m.ID() != nil && !m.ID().IsNull()
}

// Do makes one HTTP request with the headers that a message needs; those in odd replace them, and an empty value removes one.
// The caller closes the response body.
func (c *HTTP) Do(ctx context.Context, method string, body []byte, odd http.Header) (*http.Response, error) {
	m := wire.Parse(body, wire.Limits{})
	h := c.header(&m)
	for name, values := range odd {
		if h[name] = values; values[0] == "" {
			delete(h, name)
		}
	}
	r, err := c.do(ctx, method, c.url, body, h)
	if err == nil && m.MethodIs("initialize") && r.StatusCode < http.StatusMultipleChoices {
		c.mu.Lock()
		c.session = r.Header.Get("Mcp-Session-Id")
		c.mu.Unlock()
	}
	return r, err
}

// Ask is [HTTP.Do] that reads the response. It recognises an event stream but does not read it.
func (c *HTTP) Ask(ctx context.Context, method string, body []byte, odd http.Header) (Message, error) {
	r, err := c.Do(ctx, method, body, odd)
	if err != nil {
		return Message{}, err
	}
	defer func() { _ = r.Body.Close() }()
	if mediaType(r) == eventStream {
		m := Message{}
		m.ofResponse(r)
		return m, nil
	}
	return c.body(r)
}

// header returns the headers for a message.
func (c *HTTP) header(m *wire.Message) http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, "+eventStream)
	if c.session != "" && !m.MethodIs("initialize") {
		h.Set("Mcp-Session-Id", c.session)
	}
	setHeaders(h, m, c.version)
	if c.o.Headers != nil {
		c.o.Headers(h, m)
	}
	return h
}

// renew starts another session, as a client must if the server does not know its session.
func (c *HTTP) renew(ctx context.Context) error {
	c.mu.Lock()
	greeting := c.greeting
	c.session = ""
	c.mu.Unlock()
	for _, message := range [][]byte{greeting, []byte(Initialized)} {
		r, err := c.Do(ctx, http.MethodPost, message, nil)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, io.LimitReader(r.Body, int64(c.o.MaxBytes)))
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

// Session returns the session id, "" if there is none.
func (c *HTTP) Session() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// Messages implements [Conn].
func (c *HTTP) Messages() <-chan Message { return c.came }

// Exchanges implements [Conn].
func (c *HTTP) Exchanges() bool { return true }

// Agree implements [Conn].
func (c *HTTP) Agree(version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version = version
}

// Close implements [Conn].
func (c *HTTP) Close(patient bool) {
	defer c.http.CloseIdleConnections()
	if c.Session() == "" || !patient {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endByItself)
	defer cancel()
	if r, err := c.Do(ctx, http.MethodDelete, nil, nil); err == nil {
		_ = r.Body.Close() // a server may refuse to end the session
	}
}
