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

// HTTP connects to the server at url over streamable HTTP. The header is sent with every request, for example with a token;
// it may be nil.
func HTTP(url string, header http.Header) Transport {
	return httpTransport{open: func() (string, func(), error) { return url, func() {}, nil }, header: header}
}

// HTTPHandler serves h on a new loopback port for every connection and connects to it over streamable HTTP. It runs
// in this process: a panic in a goroutine that h started ends the test run.
func HTTPHandler(h http.Handler) Transport {
	return HTTPFunc(func() (string, func(), error) {
		listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it binds at once and waits for nothing
		if err != nil {
			return "", nil, fmt.Errorf("opening a loopback port: %w", err)
		}
		// The server's log about refused requests would only hide the findings.
		server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
		go func() { _ = server.Serve(listener) }()                                      // Close ends it
		return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil // the error does not matter after the check
	})
}

// HTTPFunc calls start for every connection and connects over streamable HTTP to the URL it returns; stop
// ends that server. It is for servers that a check may kill.
func HTTPFunc(start func() (url string, stop func(), err error)) Transport {
	return httpTransport{open: start}
}

type httpTransport struct {
	open   func() (url string, shut func(), err error)
	header http.Header
}

// Open makes a connection. It sends nothing.
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
	ctx    context.Context // cancelled by Close
	cancel context.CancelFunc
	frames chan Frame
	wake   chan struct{} // receives a value when an exchange has ended

	mu      sync.Mutex
	open    int    // exchanges in progress; guarded by mu
	session string // Mcp-Session-Id of this connection; guarded by mu
	trouble []byte // the last failure of an exchange; guarded by mu
}

// Send posts the message. Receive returns its answer.
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
		if err != nil && c.ctx.Err() == nil { // errors after Close are expected
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

// request returns a request as a well-behaved client would send it. Values in header replace the default ones, and an empty
// value removes the header.
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

// exchange sends the request and passes on every message of its answer.
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
		if open == 0 { // open was read before the channel, so all messages are already in the channel
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

// reply is a complete HTTP response, for the checks of HTTP itself.
type reply struct {
	Frame
	header http.Header
}

// ask sends one request and waits for its response. It recognises an event stream but does not read it.
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

// sessionID returns the session id that the server assigned to this connection, or "".
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

// Close cancels every exchange in progress. It does not end the server's session.
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
