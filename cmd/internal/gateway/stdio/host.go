package stdio

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/jsontext"
	"github.com/candor-mcp/candor/internal/ref"
	"github.com/candor-mcp/candor/wire"
)

// Host is a stdio server that receives messages from several connections, each in a goroutine of the caller. All output
// of the server goes to one writer. [Wrap] is for a server with one client on one stream.
type Host struct {
	w      *supervisor
	first  *process
	hangUp func()
}

// StartHost starts a server. Its output is written to out, one message per line. Shared means that it serves several
// clients. The caller must call [Host.Run].
func StartHost(ctx context.Context, u *gateway.Upstream, child Child, out io.Writer, shared bool) (*Host, error) {
	child.Fill()
	u.Secrets.Store(gateway.CommandSecrets(child.Env, child.Args))
	server, err := child.start()
	if err != nil {
		return nil, err
	}
	u.ProcessStarted(false)
	p := newClientConn(ctx, u, out)
	p.unordered, p.shared = true, shared
	w := &supervisor{up: u, ctx: ctx, child: child, client: p, hungUp: make(chan struct{})}
	return &Host{w: w, first: server, hangUp: sync.OnceFunc(func() { close(w.hungUp) })}, nil
}

// Run serves until the server has ended and is not restarted, [Host.HangUp] is called, or the context ends.
func (h *Host) Run() { h.w.supervise(h.first) }

// HangUp lets open calls finish, then ends the server.
func (h *Host) HangUp() { h.hangUp() }

// Close writes all queued messages and drops later ones. It is called after [Host.Run] has returned.
func (h *Host) Close() {
	h.w.client.forget()
	h.w.client.client.shut()
}

// Context returns the context that was passed to [StartHost].
func (h *Host) Context() context.Context { return h.w.ctx }

// Session returns the id for recording failures that belong to no client's session.
func (h *Host) Session() string { return h.w.client.session }

// Gone returns the error for a server that has ended and is not restarted, otherwise nil.
func (h *Host) Gone() *candor.Error {
	h.w.client.mu.Lock()
	defer h.w.client.mu.Unlock()
	return h.w.client.over
}

// Request admits a request and forwards it, or answers it. In both cases the answer is written to the host's writer.
func (h *Host) Request(m *wire.Message, session string, trace gateway.Trace) {
	h.w.client.request(m, session, trace)
	h.w.client.flush()
}

// Notify forwards a notification.
func (h *Host) Notify(m *wire.Message) {
	h.w.client.notification(m)
	h.w.client.flush()
}

// Send forwards any message from a client.
func (h *Host) Send(message []byte) {
	h.w.client.fromClient(framing.Line{Bytes: message})
	h.w.client.flush()
}

// open returns the open call with that key and its connection. Both are nil if the call has ended or its answer is being written.
func (h *Host) open(key string) (*serverConn, *pending) {
	h.w.client.mu.Lock()
	l := h.w.client.conn
	h.w.client.mu.Unlock()
	if l == nil {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.open[key]
	if p == nil || p.call == nil {
		return nil, nil
	}
	return l, p
}

// Open returns the open call whose id has that key, or nil. The caller must not end it.
func (h *Host) Open(key string) *gateway.Call {
	if _, p := h.open(key); p != nil {
		return p.call
	}
	return nil
}

// Take removes an open call, which the caller must end. The call is nil if it has ended or its answer is being written.
// Cancel sends the server a notification that the call with that id was cancelled.
func (h *Host) Take(key string) (call *gateway.Call, cancel func(id wire.ID, reason string)) {
	l, p := h.open(key)
	if p == nil || !l.giveUp(p) {
		return nil, nil
	}
	return p.call, func(id wire.ID, reason string) { l.server.send(gateway.CancelNotification(id, reason)) }
}

// Ask sends a request from the gateway and returns the server's response. Message and error are both nil if the
// response could not be read. The error is a [*candor.Error] if the server ended or did not answer within the limit.
func (h *Host) Ask(ctx context.Context, method string, params []byte, limit time.Duration) (*wire.Message, error) {
	l, e := h.w.client.server()
	if e != nil {
		return nil, e
	}
	type response struct {
		m   *wire.Message
		err error
	}
	answered := make(chan response, 1)
	id := jsontext.AppendString(nil, "candor/"+ref.New())
	p := newPending(id, limit, nil)
	p.own = func(m *wire.Message) {
		if m == nil {
			answered <- response{err: l.whyUnanswered(p)}
			return
		}
		own := m.Clone()
		answered <- response{m: &own}
	}
	if e := l.put(p); e != nil {
		return nil, e
	}
	l.server.send(appendRequest(nil, id, method, params))
	select {
	case r := <-answered:
		return r.m, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-h.w.ctx.Done():
		return nil, gateway.DrainingError()
	}
}

// whyUnanswered returns the reason that a request from the gateway has no response, or nil if there was a response that
// could not be read.
func (l *serverConn) whyUnanswered(p *pending) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.over != nil:
		return goneBefore(l.over)
	case !time.Now().Before(p.due):
		return gateway.NewError(candor.CodeCallTimeout, "timeoutMs", p.limit.Milliseconds())
	default:
		return nil
	}
}
