package browser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// maxProtocolMessage is the maximum length of a message from Chromium, in bytes. Screenshots are the largest messages.
const maxProtocolMessage = 32 << 20

// errGone is the error for calls to a Chromium that has exited.
var errGone = errors.New("the browser has ended")

// client sends commands to a Chromium and receives their results and events. Its methods may be called concurrently.
type client struct {
	conn *chromedp.PipeConn
	out  chan *cdproto.Message
	done chan struct{} // closed when the connection has ended

	mu      sync.Mutex
	next    int64
	pending map[int64]chan<- *cdproto.Message
}

// newClient starts to read from r. onEvent is called for each event, in order; it must not wait for Chromium.
func newClient(r io.ReadCloser, w io.WriteCloser, onEvent func(*cdproto.Message)) *client {
	c := &client{
		conn: chromedp.NewPipeConn(&boundedReader{ReadCloser: r}, w), out: make(chan *cdproto.Message), done: make(chan struct{}),
		pending: map[int64]chan<- *cdproto.Message{},
	}
	go c.read(onEvent)
	go c.write()
	return c
}

func (c *client) read(onEvent func(*cdproto.Message)) {
	defer close(c.done)
	defer func() { _ = c.conn.Close() }()
	for {
		m := new(cdproto.Message)
		if err := c.conn.Read(context.Background(), m); err != nil {
			return
		}
		if m.ID == 0 {
			onEvent(m)
			continue
		}
		c.mu.Lock()
		reply := c.pending[m.ID]
		delete(c.pending, m.ID)
		c.mu.Unlock()
		if reply != nil {
			reply <- m // the channel has capacity 1
		}
	}
}

// write runs in its own goroutine, because a Chromium that does not read would block callers beyond their deadline.
func (c *client) write() {
	for {
		select {
		case m := <-c.out:
			if err := c.conn.Write(context.Background(), m); err != nil {
				_ = c.conn.Close()
				return
			}
		case <-c.done:
			return
		}
	}
}

// call sends a command to a target, or to the browser itself if session is empty, and decodes its result.
func (c *client) call(ctx context.Context, session target.SessionID, method string, params, result any) error {
	encoded, err := jsonv2.Marshal(params, chromedp.DefaultMarshalOptions)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", method, err)
	}
	reply := make(chan *cdproto.Message, 1)
	c.mu.Lock()
	c.next++
	id := c.next
	c.pending[id] = reply
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
	}()
	m := &cdproto.Message{ID: id, SessionID: session, Method: cdproto.MethodType(method), Params: encoded}
	select {
	case c.out <- m:
	case <-c.done:
		return errGone
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case m = <-reply:
	case <-c.done:
		return errGone
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if m.Error != nil {
		return fmt.Errorf("%s: %w", method, m.Error)
	}
	if err := jsonv2.Unmarshal(m.Result, result, chromedp.DefaultUnmarshalOptions); err != nil {
		return fmt.Errorf("decoding the result of %s: %w", method, err)
	}
	return nil
}

// endpoint is a target of a client, or the browser itself if the id is empty. It implements [cdp.Session] for
// [cdp.Call].
type endpoint struct {
	client *client
	id     target.SessionID
}

// Call sends a command and waits for its result.
func (e endpoint) Call(ctx context.Context, method string, params, result any) error {
	return e.client.call(ctx, e.id, method, params, result)
}

// Subscribe is part of the interface and not used: events are passed to the handler of the client, without a queue.
func (endpoint) Subscribe(string) (<-chan jsonv2.Value, func()) {
	events := make(chan jsonv2.Value)
	close(events)
	return events, func() {}
}

// run calls a command and discards its result.
func run[P, R any](ctx context.Context, e endpoint, command cdp.Command[P, R], params P) error {
	_, err := cdp.Call(ctx, e, command, params)
	return err
}

// boundedReader fails when a message, which ends with a zero byte, is too long.
type boundedReader struct {
	io.ReadCloser
	length int // bytes of the current message
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for i := n - 1; i >= 0; i-- {
		if p[i] == 0 {
			b.length = n - 1 - i
			return n, err
		}
	}
	if b.length += n; b.length > maxProtocolMessage {
		return n, fmt.Errorf("a message is longer than %d bytes", maxProtocolMessage)
	}
	return n, err
}
