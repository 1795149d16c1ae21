package stdio

import (
	"cmp"
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/ref"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// Streams are the two directions of a connection that carries one message per line.
type Streams struct {
	In  io.Reader // messages from the peer
	Out io.Writer // messages to the peer
}

// clientConn moves messages between one client and one server, or several servers in succession. Clean messages are forwarded as
// the same bytes. It has no queue: a peer that does not read slows down the peer that writes.
type clientConn struct {
	up        *gateway.Upstream
	ctx       context.Context // context of the connection
	session   string
	unordered bool             // messages arrive on several connections, in any order
	shared    bool             // there are several clients
	breaker   *gateway.Breaker // breaker of the server, kept across restarts
	tools     gateway.ToolCache
	last      <-chan struct{} // closed when the last held call was sent; used only by the client's reader; nil if unordered
	client    *lineWriter
	handshake handshake
	announced atomic.Bool  // the client was sent the line by which a server announces that it is ready
	received  atomic.Int64 // number of lines from the client

	reading sync.Mutex // held while a line from the client is handled
	closed  bool       // guarded by reading; further input is dropped

	mu      sync.Mutex  // guards the fields below
	conn    *serverConn // nil while no server is connected
	since   time.Time   // when the last server was lost
	changed chan struct{}
	over    *candor.Error // why no further server will be connected
}

// restartWait is how long a call waits for a server that is being restarted.
const restartWait = 5 * time.Second

func newClientConn(ctx context.Context, u *gateway.Upstream, out io.Writer) *clientConn {
	return &clientConn{up: u, ctx: ctx, session: ref.New(), client: newLineWriter(out, 0), breaker: u.NewBreaker(), since: time.Now(), changed: make(chan struct{})}
}

// readClient forwards the client's messages to the server until the client hangs up.
func (p *clientConn) readClient(client io.Reader) {
	lines := framing.NewLineReader(flushingReader{client, p.flush}, p.up.Options.Limits.Message)
	for {
		line, err := lines.Next()
		if err != nil {
			p.flush()
			return
		}
		p.received.Add(1)
		if !p.handle(line) {
			return
		}
	}
}

// handle handles one line from the client, unless the connection is closed.
func (p *clientConn) handle(line framing.Line) bool {
	p.reading.Lock()
	defer p.reading.Unlock()
	if !p.closed {
		p.fromClient(line)
	}
	return !p.closed
}

// close waits until the current line is handled, and drops all further lines.
func (p *clientConn) close() {
	p.reading.Lock()
	defer p.reading.Unlock()
	p.closed = true
}

// forget releases what the upstream keeps for the connection, which has ended.
func (p *clientConn) forget() {
	p.tools.Forget()
	p.up.DropBreaker(p.breaker)
}

// fromClient handles one line from the client.
func (p *clientConn) fromClient(line framing.Line) {
	if line.Flaw != wireflaw.None {
		p.client.queue(p.up.Oversize(p.ctx, line.Size, line.Head, line.Tail, p.session))
		return
	}
	m := wire.Parse(line.Bytes, p.up.Options.Limits.Message)
	switch m.Kind() {
	case wire.KindRequest:
		p.request(&m, p.session, gateway.Trace{})
	case wire.KindNotification:
		p.notification(&m)
	case wire.KindResult, wire.KindError:
		p.response(&m)
	default:
		p.client.queue(p.up.Malformed(p.ctx, &m, p.session))
	}
}

// request admits a request and forwards it, or answers it.
func (p *clientConn) request(m *wire.Message, session string, trace gateway.Trace) {
	l, e := p.server()
	if e == nil {
		e = l.objection(m)
	}
	if e != nil {
		c := p.up.NewCallFrom(m, p.peer(m, session, trace))
		if l == nil {
			c.CompileSchema(&p.tools, p.callerOf(c))
			e = cmp.Or(c.Objection(), e) // mistakes in the arguments first, because the caller can correct them
		}
		p.client.queue(c.Fail(p.ctx, e))
		return
	}
	c := p.up.NewCallFrom(m, p.peer(m, session, trace))
	if p.holds(l, c) {
		return
	}
	if refusal := c.Admit(p.ctx, true); refusal != nil {
		p.client.queue(refusal)
		return
	}
	p.handshake.request(c)
	l.forward(c)
}

// response forwards the client's response to a request of the server, but only to the server that sent the request.
func (p *clientConn) response(m *wire.Message) {
	l, _ := p.server()
	if l == nil || !l.mayAnswer(m.ID()) {
		p.up.Options.Logger.DebugContext(p.ctx, "an answer of the client was dropped, because the server does not wait for it")
		return
	}
	l.server.queue(m.Bytes())
}

func (p *clientConn) notification(m *wire.Message) {
	l, _ := p.server()
	switch {
	case m.MethodIs("notifications/initialized"):
		p.handshake.initialized(m)
	case m.MethodIs("notifications/cancelled"):
		if id := m.Params().Path("requestId").Raw(); id != nil && l != nil && !l.cancel(id) {
			return
		}
	}
	if l != nil {
		l.server.queue(m.Bytes())
	}
}

// server returns the connection to the server. During a restart it waits for up to restartWait. The error is the reason if there
// is no connection.
func (p *clientConn) server() (*serverConn, *candor.Error) {
	for {
		p.mu.Lock()
		l, over, changed, left := p.conn, p.over, p.changed, restartWait-time.Since(p.since)
		p.mu.Unlock()
		switch {
		case l != nil:
			return l, nil
		case over != nil:
			return nil, over
		case left <= 0:
			return nil, gateway.NewError(candor.CodeUpstreamUnavailable)
		}
		p.client.flush()
		select {
		case <-changed:
		case <-p.ctx.Done():
			return nil, gateway.DrainingError()
		case <-time.After(left):
		}
	}
}

// connect sends further calls to l; nil disconnects.
func (p *clientConn) connect(l *serverConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l == nil && p.conn != nil {
		p.since = time.Now()
	}
	p.conn = l
	close(p.changed)
	p.changed = make(chan struct{})
}

// finish notes that no further server will be connected. All later calls are answered with e.
func (p *clientConn) finish(e *candor.Error) {
	p.mu.Lock()
	p.over = e
	p.mu.Unlock()
	p.connect(nil)
}

// flush writes the queued messages of both sides.
func (p *clientConn) flush() {
	p.mu.Lock()
	l := p.conn
	p.mu.Unlock()
	if l != nil {
		l.server.flush()
	}
	p.client.flush()
}
