package gateway

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
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/ref"
	"github.com/candor-mcp/candor/wire"
)

// Streams are the two ends of a connection that moves one message a line.
type Streams struct {
	In  io.Reader // what the peer says
	Out io.Writer // what it is told
}

// pump moves messages between one client and one server, or several one after the other. Clean ones leave as the bytes they came
// in. It holds no queue: a peer that does not read slows down the one that writes.
type pump struct {
	up      *Upstream
	ctx     context.Context // it is that of the connection
	session string
	jumbled bool     // what the client says comes by several ways, and may overtake itself
	shared  bool     // several clients are served
	breaker *breaker // of the server at the other end, and those that take its place
	tools   toolCache
	last    <-chan struct{} // closed when the last call that was held has left; only the client's reader uses it, nil if jumbled
	client  *outlet
	hello   handshake
	heard   atomic.Int64 // lines of the client

	announced atomic.Bool // the client was sent the line by which a server says that it is ready

	reading sync.Mutex // held while a line of the client is handled
	closed  bool       // guarded by reading: what the client says is dropped

	mu      sync.Mutex // guards all below
	link    *link      // nil while there is no server
	since   time.Time  // when the last one was lost
	changed chan struct{}
	over    *candor.Error // why there will be none any more
}

// patience is how long a call waits for a server that is being started again.
const patience = 5 * time.Second

func newPump(ctx context.Context, u *Upstream, out io.Writer) *pump {
	return &pump{up: u, ctx: ctx, session: ref.New(), client: newOutlet(out, 0), breaker: newBreaker(&u.o), since: time.Now(), changed: make(chan struct{})}
}

// readClient moves what the client says to the server until the client hangs up.
func (p *pump) readClient(client io.Reader) {
	lines := wire.NewLineReader(eager{client, p.flush}, p.up.o.Limits.Message)
	for {
		line, err := lines.Next()
		if err != nil {
			p.flush()
			return
		}
		p.heard.Add(1)
		if !p.handle(line) {
			return
		}
	}
}

// handle handles one line of the client, unless the pump is closed.
func (p *pump) handle(line wire.Line) bool {
	p.reading.Lock()
	defer p.reading.Unlock()
	if !p.closed {
		p.fromClient(line)
	}
	return !p.closed
}

// close waits until the line that is being handled is done, and drops all that follow.
func (p *pump) close() {
	p.reading.Lock()
	defer p.reading.Unlock()
	p.closed = true
}

// fromClient handles one line of the client.
func (p *pump) fromClient(line wire.Line) {
	if line.Flaw != wire.FlawNone {
		p.client.queue(p.up.Oversize(p.ctx, line.Size, line.Head, line.Tail, p.session))
		return
	}
	m := wire.Parse(line.Bytes, p.up.o.Limits.Message)
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
func (p *pump) request(m *wire.Message, session string) {
	l, e := p.server()
	if e == nil {
		e = l.objection(m)
	}
	if e != nil {
		c := p.up.newCallOf(m, p.peer(m, session))
		if l == nil {
			c.awaitSchema(p.ctx)          // nothing else can be served meanwhile
			e = cmp.Or(p.objection(c), e) // what no server would take: whoever only hears of the server never learns what to mend
		}
		p.client.queue(c.Fail(p.ctx, e))
		return
	}
	c := p.up.newCallOf(m, p.peer(m, session))
	if p.holds(l, c) {
		return
	}
	if refusal := p.admit(c); refusal != nil {
		p.client.queue(refusal)
		return
	}
	p.hello.request(c)
	l.forward(c)
}

// objection is [Call.objection], and nothing if a mistake of ours would lose the request.
func (p *pump) objection(c *Call) (e *candor.Error) {
	defer func() {
		if r := recover(); r != nil {
			p.panicked(r)
			e = nil
		}
	}()
	return c.objection()
}

// admit is [Call.admit], and an error if a panic of ours would lose the request.
func (p *pump) admit(c *Call) (refusal []byte) {
	defer func() {
		if r := recover(); r != nil {
			p.panicked(r)
			refusal = c.Fail(p.ctx, candor.New(candor.CodeInternalError, "", candor.WithOrigin(candor.PartyGateway, false)))
		}
	}()
	return c.admit(p.ctx, true)
}

func (p *pump) panicked(r any) {
	p.up.o.Logger.ErrorContext(p.ctx, "a panic while a call was admitted", slog.String("upstream", p.up.o.Name), slog.String("panic", contract.Bound(fmt.Sprint(r), maxNoiseBytes)))
}

// response passes on what the client answers to a question of the server, but only to the server that has asked.
func (p *pump) response(m *wire.Message) {
	l, _ := p.server()
	if l == nil || !l.mayAnswer(m.ID()) {
		p.up.o.Logger.DebugContext(p.ctx, "an answer of the client was dropped, because the server does not wait for it", slog.String("upstream", p.up.o.Name))
		return
	}
	l.server.queue(m.Bytes())
}

func (p *pump) notification(m *wire.Message) {
	l, _ := p.server()
	switch {
	case m.MethodIs("notifications/initialized"):
		p.hello.initialized(m)
	case m.MethodIs("notifications/cancelled"):
		if id := m.Params().Path("requestId").Raw(); id != nil && l != nil && !l.cancel(id) {
			return
		}
	}
	if l != nil {
		l.server.queue(m.Bytes())
	}
}

// server returns the link to the server. While there is none it waits a little: then the error says why there still is none.
func (p *pump) server() (*link, *candor.Error) {
	for {
		p.mu.Lock()
		l, over, changed, left := p.link, p.over, p.changed, patience-time.Since(p.since)
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
			return nil, draining()
		case <-time.After(left):
		}
	}
}

// connect makes l the link that calls go to; nil if there is none for the moment.
func (p *pump) connect(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l == nil && p.link != nil {
		p.since = time.Now()
	}
	p.link = l
	close(p.changed)
	p.changed = make(chan struct{})
}

// finish says that there will be no server any more: e is what every later call is answered.
func (p *pump) finish(e *candor.Error) {
	p.mu.Lock()
	p.over = e
	p.mu.Unlock()
	p.connect(nil)
}

// flush writes what waits for either side.
func (p *pump) flush() {
	p.mu.Lock()
	l := p.link
	p.mu.Unlock()
	if l != nil {
		l.server.flush()
	}
	p.client.flush()
}
