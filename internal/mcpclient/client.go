package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/candor-mcp/candor/wire"
)

// ErrEnded is the error for a request that the server did not answer before the connection, or the HTTP response, ended.
var ErrEnded = errors.New("the server ended before it answered")

// Client makes requests over a connection with a session. It is safe for concurrent use.
type Client struct {
	Conn
	name  string
	other func(Message, *wire.Message)

	done    chan struct{} // closed by Close
	ended   chan struct{} // closed when no further message comes
	sent    chan string   // ids of requests after their HTTP response
	once    sync.Once
	mu      sync.Mutex // guards the fields below
	over    bool       // the connection has ended
	last    int        // id of the last request
	waiting map[string]chan Answer
}

// Answer is the answer to a request.
type Answer struct {
	wire.Message
	Frame Message
	Err   error // why there is none
}

// NewClient returns a client, which reads all messages of the connection. name is that of the client in initialize. other is
// called in order for each message that answers no request; nil answers requests of the server as a client without
// capabilities does, and drops the rest.
func NewClient(conn Conn, name string, other func(Message, *wire.Message)) *Client {
	c := &Client{Conn: conn, name: name, other: other, done: make(chan struct{}), ended: make(chan struct{}), sent: make(chan string), waiting: map[string]chan Answer{}}
	if other == nil {
		c.other = c.refuse
	}
	go c.read()
	return c
}

func (c *Client) read() {
	defer close(c.ended)
	defer c.end()
	for {
		select {
		case m, open := <-c.Messages():
			if !open {
				return
			}
			parsed := wire.Parse(m.Data, wire.Limits{MaxBytes: MaxBytes})
			id := string(parsed.ID())
			if m.Body {
				id = strconv.Itoa(m.Tag)
			} else if shape := parsed.Shape(); shape == wire.KindRequest || shape == wire.KindNotification {
				id = ""
			}
			if !c.give(id, Answer{Message: parsed, Frame: m}) {
				c.other(m, &parsed)
			}
		case id := <-c.sent:
			c.give(id, Answer{Err: ErrEnded}) // unless the response held the answer
		case <-c.done:
			return
		}
	}
}

// give passes an answer to the request with an id, and reports whether one waits for it.
func (c *Client) give(id string, a Answer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	to, ok := c.waiting[id]
	delete(c.waiting, id)
	if ok {
		to <- a
	}
	return ok
}

// end answers the requests that wait.
func (c *Client) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for _, to := range c.waiting {
		to <- Answer{Err: ErrEnded}
	}
	clear(c.waiting)
}

// refuse answers a request of the server.
func (c *Client) refuse(_ Message, m *wire.Message) {
	if answer := AnswerTo(m); answer != nil {
		go func() { _ = c.Send(context.Background(), 0, answer) }() // the server may not read it
	}
}

// AnswerTo returns the answer of a client without capabilities to a request of the server, nil for other messages.
func AnswerTo(m *wire.Message) []byte {
	answer := `"error":{"code":-32601,"message":"Method not found"}`
	switch {
	case m.Shape() != wire.KindRequest:
		return nil
	case m.MethodIs("ping"):
		answer = `"result":{}`
	case m.MethodIs("roots/list"):
		answer = `"result":{"roots":[]}`
	}
	return []byte(`{"jsonrpc":"2.0","id":` + string(m.ID()) + `,` + answer + `}`)
}

// Go sends a request and returns a channel for its answer. params is JSON. Except over HTTP, requests are sent in the order of
// the calls.
func (c *Client) Go(ctx context.Context, method, params string) <-chan Answer {
	answer := make(chan Answer, 1)
	c.mu.Lock()
	c.last++
	tag, over := c.last, c.over
	c.waiting[strconv.Itoa(tag)] = answer
	c.mu.Unlock()
	switch {
	case over:
		c.end()
	case c.Exchanges():
		go c.send(ctx, tag, method, params)
	default:
		c.send(ctx, tag, method, params)
	}
	return answer
}

func (c *Client) send(ctx context.Context, tag int, method, params string) {
	id := strconv.Itoa(tag)
	if err := c.Send(ctx, tag, Request(id, method, params)); err != nil {
		c.give(id, Answer{Err: err})
	} else if c.Exchanges() {
		select {
		case c.sent <- id:
		case <-c.ended:
		}
	}
}

// Ask sends a request and waits for its answer until ctx is done.
func (c *Client) Ask(ctx context.Context, method, params string) (Answer, error) {
	select {
	case a := <-c.Go(ctx, method, params):
		return a, a.Err
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
}

// Initialize begins the session. The error is only about the connection; the answer may be a JSON-RPC error.
func (c *Client) Initialize(ctx context.Context) (Answer, error) {
	answer, err := c.Ask(ctx, "initialize", InitializeParams(c.name))
	version, _ := answer.Result().Path("protocolVersion").Str()
	if err != nil || version == "" {
		return answer, err
	}
	c.Agree(version)
	if err := c.Send(ctx, 0, []byte(Initialized)); err != nil {
		return answer, fmt.Errorf("notifications/initialized: %w", err)
	}
	return answer, nil
}

// Ended returns a channel that is closed when no further message comes.
func (c *Client) Ended() <-chan struct{} { return c.ended }

// Close implements [Conn].
func (c *Client) Close(patient bool) {
	c.once.Do(func() { close(c.done) })
	c.Conn.Close(patient)
}
