package candortest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"sync"
	"time"

	framingpkg "github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// HTTP speaks streamable HTTP with the server at url. The header is sent with every request, for a token as a rule; it
// may be nil.
func HTTP(url string, header http.Header) Transport {
	return httpTransport{open: func() (string, func(), error) { return url, func() {}, nil }, header: header}
}

// HTTPHandler serves h on a loopback port of its own for every connection, and speaks streamable HTTP with it. It runs
// in this process: a panic that h does not catch in a goroutine of its own ends the test run.
func HTTPHandler(h http.Handler) Transport {
	return HTTPFunc(func() (string, func(), error) {
		listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it binds at once and waits for nothing
		if err != nil {
			return "", nil, fmt.Errorf("opening a loopback port: %w", err)
		}
		// What the server logs about refused requests would only hide the findings.
		server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
		go func() { _ = server.Serve(listener) }()                                      // it ends with Close
		return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil // nothing is left to lose
	})
}

// HTTPFunc calls start for every connection and speaks streamable HTTP with the server at the address it returns; stop
// ends that server. It is for servers that a check may kill.
func HTTPFunc(start func() (url string, stop func(), err error)) Transport {
	return httpTransport{open: start}
}

type httpTransport struct {
	open   func() (url string, shut func(), err error)
	header http.Header
}

// Open makes a connection; nothing is sent yet.
func (t httpTransport) Open(context.Context) (Conn, error) {
	url, shut, err := t.open()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 4}
	return &httpConn{
		url: url, shut: shut, header: t.header, ctx: ctx, cancel: cancel, frames: make(chan Frame, maxWaiting), wake: make(chan struct{}, 1),
		client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

type httpConn struct {
	url    string
	shut   func()
	header http.Header
	client *http.Client
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	frames chan Frame
	wake   chan struct{} // told when an exchange has ended

	mu      sync.Mutex
	open    int    // exchanges under way; guarded by mu
	session string // Mcp-Session-Id of this connection; guarded by mu
	trouble []byte // the last failure of an exchange; guarded by mu
}

// Send posts the message; its answer is received.
func (c *httpConn) Send(ctx context.Context, message []byte, header http.Header) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	request, err := c.request(c.ctx, http.MethodPost, message, header)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.open++
	c.mu.Unlock()
	go func() {
		err := c.exchange(request)
		c.mu.Lock()
		c.open--
		if err != nil && c.ctx.Err() == nil { // what Close cuts off is no trouble
			c.trouble = []byte(err.Error())
		}
		c.mu.Unlock()
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}()
	return nil
}

// request makes a request as a well-behaved client would; what header says replaces what it would say, and an empty
// value removes it.
func (c *httpConn) request(ctx context.Context, method string, body []byte, header http.Header) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("making a request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	c.mu.Lock()
	if c.session != "" {
		request.Header.Set("Mcp-Session-Id", c.session)
	}
	c.mu.Unlock()
	for _, set := range []http.Header{c.header, header} {
		for name, values := range set {
			request.Header[http.CanonicalHeaderKey(name)] = values
			if len(values) == 1 && values[0] == "" {
				request.Header.Del(name)
			}
		}
	}
	if host := header.Get("Host"); host != "" {
		request.Host = host
		request.Header.Del("Host")
	}
	return request, nil
}

// exchange makes the request and hands on every message of its answer.
func (c *httpConn) exchange(request *http.Request) error {
	response, err := c.client.Do(request)
	if err != nil {
		return fmt.Errorf("posting a message: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if id := response.Header.Get("Mcp-Session-Id"); id != "" && response.StatusCode < 300 {
		c.mu.Lock()
		c.session = id
		c.mu.Unlock()
	}
	frame := Frame{Status: response.StatusCode, Type: mediaType(response.Header)}
	if frame.Type == "text/event-stream" {
		return c.events(response.Body, frame)
	}
	frame.Data, err = io.ReadAll(io.LimitReader(response.Body, maxFrame))
	frame.TooLarge = len(frame.Data) == maxFrame
	c.deliver(frame)
	return err
}

func (c *httpConn) events(body io.Reader, frame Frame) error {
	events := framingpkg.NewEventReader(body, wire.Limits{MaxBytes: maxFrame})
	for {
		event, err := events.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the event stream: %w", err)
		}
		if len(event.Data) == 0 && event.Flaw == wireflaw.None {
			continue // a comment, or an event that only carries an id to resume from
		}
		frame.Data, frame.TooLarge = bytes.Clone(event.Data), event.Flaw != wireflaw.None
		c.deliver(frame)
	}
}

func (c *httpConn) deliver(frame Frame) {
	select {
	case c.frames <- frame:
	case <-c.ctx.Done():
	}
}

// Receive returns the next message of any answer.
func (c *httpConn) Receive(ctx context.Context) (Frame, error) {
	for {
		c.mu.Lock()
		open := c.open
		c.mu.Unlock()
		select {
		case frame := <-c.frames:
			return frame, nil
		default:
		}
		if open == 0 { // read before the frames were: all that was said is in the channel
			return Frame{}, ErrQuiet
		}
		select {
		case frame := <-c.frames:
			return frame, nil
		case <-c.wake:
		case <-ctx.Done():
			return Frame{}, ctx.Err()
		}
	}
}

// reply is a whole HTTP answer, for the checks that are about HTTP itself.
type reply struct {
	Frame
	header http.Header
}

// ask makes one request of any form and waits for its answer. An event stream is not read, only recognised.
func (c *httpConn) ask(ctx context.Context, method string, body []byte, header http.Header) (reply, error) {
	request, err := c.request(ctx, method, body, header)
	if err != nil {
		return reply{}, err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return reply{}, fmt.Errorf("asking the server: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	r := reply{Frame{Status: response.StatusCode, Type: mediaType(response.Header)}, response.Header}
	if r.Type != "text/event-stream" {
		r.Data, err = io.ReadAll(io.LimitReader(response.Body, maxFrame))
	}
	return r, err
}

// sessionID returns the session that the server has given this connection, "" for none.
func (c *httpConn) sessionID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// Diagnostics returns the last failure below the protocol, such as a refused connection.
func (c *httpConn) Diagnostics() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.trouble)
}

// Close ends every exchange under way. The server's session, if there is one, is left to its own end.
func (c *httpConn) Close() error {
	c.cancel()
	c.client.CloseIdleConnections()
	c.shut()
	return nil
}

func mediaType(h http.Header) string {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}
