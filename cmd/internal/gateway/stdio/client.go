package stdio

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/ref"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// Streams are the two ends of a connection that moves one message a line.
type Streams struct {
	In  io.Reader // messages from the peer
	Out io.Writer // messages to the peer
}

// clientConn moves messages between one client and one server, or several one after the other. Clean ones leave as the bytes they came
// in. It holds no queue: a peer that does not read slows down the one that writes.
type clientConn struct {
	up        *gateway.Upstream
	ctx       context.Context // it is that of the connection
	session   string
	unordered bool             // messages arrive on several connections, in any order
	shared    bool             // several clients are served
	breaker   *gateway.Breaker // of the server, kept across restarts
	tools     gateway.ToolCache
	last      <-chan struct{} // closed when the last call that was held has left; only the client's reader uses it, nil if jumbled
	client    *lineWriter
	handshake handshake
	received  atomic.Int64 // lines of the client

	announced atomic.Bool // the client was sent the line by which a server says that it is ready

	reading sync.Mutex // held while a line of the client is handled
	closed  bool       // guarded by reading; drop all further input

	mu      sync.Mutex  // guards all below
	conn    *serverConn // nil while no server is connected
	since   time.Time   // when the last one was lost
	changed chan struct{}
	over    *candor.Error // why there will be none any more
}

// CheckTimeout is how long a call waits for a server that is being started again.
const restartWait = 5 * time.Second

func newClientConn(ctx context.Context, u *gateway.Upstream, out io.Writer) *clientConn {
	return &clientConn{up: u, ctx: ctx, session: ref.New(), client: newLineWriter(out, 0), breaker: gateway.NewBreaker(&u.Options), since: time.Now(), changed: make(chan struct{})}
}

// readClient moves what the client says to the server until the client hangs up.
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

// handle handles one line of the client, unless the pump is closed.
func (p *clientConn) handle(line framing.Line) bool {
	p.reading.Lock()
	defer p.reading.Unlock()
	if !p.closed {
		p.fromClient(line)
	}
	return !p.closed
}

// close waits until the line that is being handled is done, and drops all that follow.
func (p *clientConn) close() {
	p.reading.Lock()
	defer p.reading.Unlock()
	p.closed = true
}

// fromClient handles one line of the client.
func (p *clientConn) fromClient(line framing.Line) {
	if line.Flaw != wireflaw.None {
		p.client.queue(p.up.Oversize(p.ctx, line.Size, line.Head, line.Tail, p.session))
		return
	}
	m := wire.Parse(line.Bytes, p.up.Options.Limits.Message)
	switch m.Kind() {
	case wire.KindRequest:
		p.request(&m, p.session)
	case wire.KindNotification:
		p.notification(&m)
	case wire.KindResult, wire.KindError:
		p.response(&m)
	default:
		p.client.queue(p.up.Malformed(p.ctx, &m, p.session))
	}
}

// request admits a request of a session and forwards it, or answers it.
func (p *clientConn) request(m *wire.Message, session string) {
	l, e := p.server()
	if e == nil {
		e = l.objection(m)
	}
	if e != nil {
		c := p.up.NewCallFrom(m, p.peer(m, session))
		if l == nil {
			c.AwaitSchema(p.ctx)          // no other call can be served meanwhile
			e = cmp.Or(p.objection(c), e) // mistakes in the arguments first: the caller can correct them
		}
		p.client.queue(c.Fail(p.ctx, e))
		return
	}
	c := p.up.NewCallFrom(m, p.peer(m, session))
	if p.holds(l, c) {
		return
	}
	if refusal := p.admit(c); refusal != nil {
		p.client.queue(refusal)
		return
	}
	p.handshake.request(c)
	l.forward(c)
}

// objection is [gateway.Call.Objection], or nil if that panics.
func (p *clientConn) objection(c *gateway.Call) (e *candor.Error) {
	defer func() {
		if r := recover(); r != nil {
			p.logPanic(r)
			e = nil
		}
	}()
	return c.Objection()
}

// admit is [gateway.Call.Admit], or an error response if that panics.
func (p *clientConn) admit(c *gateway.Call) (refusal []byte) {
	defer func() {
		if r := recover(); r != nil {
			p.logPanic(r)
			refusal = c.Fail(p.ctx, candor.New(candor.CodeInternalError, "", candor.WithOrigin(candor.PartyGateway, false)))
		}
	}()
	return c.Admit(p.ctx, true)
}

func (p *clientConn) logPanic(r any) {
	p.up.Options.Logger.ErrorContext(p.ctx, "a panic while a call was admitted", slog.String("upstream", p.up.Options.Name), slog.String("panic", contract.Bound(fmt.Sprint(r), gateway.MaxNoiseBytes)))
}

// response passes on what the client answers to a question of the server, but only to the server that has asked.
func (p *clientConn) response(m *wire.Message) {
	l, _ := p.server()
	if l == nil || !l.mayAnswer(m.ID()) {
		p.up.Options.Logger.DebugContext(p.ctx, "an answer of the client was dropped, because the server does not wait for it", slog.String("upstream", p.up.Options.Name))
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

// server returns the connection to the server. While the server restarts it waits a little; then the error says why
// there is no connection.
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
			return nil, candor.New(candor.CodeUpstreamUnavailable, "", candor.WithOrigin(candor.PartyGateway, false))
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

// connect makes l the connection that calls are sent on; nil disconnects.
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

// finish says that there will be no server any more: e is what every later call is answered.
func (p *clientConn) finish(e *candor.Error) {
	p.mu.Lock()
	p.over = e
	p.mu.Unlock()
	p.connect(nil)
}

// flush writes what waits for either side.
func (p *clientConn) flush() {
	p.mu.Lock()
	l := p.conn
	p.mu.Unlock()
	if l != nil {
		l.server.flush()
	}
	p.client.flush()
}
