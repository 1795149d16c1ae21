package httpgate

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/codes/common"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/httpguard"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// stream is a stream that a client has opened by GET. It has a lock, because deadlines write to it too.
type stream struct {
	x      *Exchange
	s      *session // nil if the session is unknown
	legacy string   // the session key sent to the client, for a legacy server
	over   bool     // no further event of the server is forwarded

	mu     sync.Mutex
	closed bool // guarded by mu; the request has ended
}

// send calls write, unless the request has ended.
func (o *stream) send(write func() error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return io.ErrClosedPipe
	}
	return write()
}

// sendAnswer sends an answer of the gateway.
func (o *stream) sendAnswer(answer []byte) {
	if answer == nil {
		return
	}
	_ = o.send(func() error { return o.x.SendEvent("message", answer) }) // the client may have disconnected
}

func (o *stream) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
}

// Listen opens the stream for messages that belong to no call, resumes a stream, or begins a legacy session.
func (x *Exchange) Listen() {
	if !x.CountStream() {
		return
	}
	defer x.Handler.Streams.Add(-1)
	res, err := x.send(http.MethodGet, nil)
	if err != nil || res.StatusCode != http.StatusOK || httpguard.MediaType(res.Header) != "text/event-stream" {
		x.endUnresumed(err != nil || res.StatusCode >= http.StatusInternalServerError)
		x.pass(res, err)
		return
	}
	defer func() { _ = res.Body.Close() }()
	if !decode(res) {
		x.refuse(&httpguard.Refusal{Status: http.StatusBadGateway, Err: errEncoded(res.Header)})
		return
	}
	o := &stream{x: x, s: x.Handler.sessions.get(x.Session)}
	x.beginStream(res)
	if o.s != nil {
		o.s.attach(o)
	}
	err = o.follow(x.heldEvents(res.Body))
	o.leave()
	if !errors.Is(err, io.EOF) && x.Request.Context().Err() == nil {
		panic(http.ErrAbortHandler) //nolint:forbidigo // the client is to see that the stream broke off
	}
}

// endUnresumed ends the calls whose stream could not be resumed because the upstream has ended. The client sees that in the
// response to its GET.
func (x *Exchange) endUnresumed(gone bool) {
	s := x.Handler.sessions.get(x.Session)
	if s == nil || !gone || x.Request.Header.Get("Last-Event-Id") == "" {
		return
	}
	for _, call := range s.takeAll() {
		call.FailSilently(x.Context, gateway.NewError(candor.CodeUpstreamGone, "reason", "connection closed"), nil)
	}
}

// follow forwards events until the stream ends, and returns the reason.
func (o *stream) follow(events *heldEvents) error {
	for {
		e, err := events.Next()
		if err != nil {
			return err
		}
		out := o.handleEvent(&e)
		if out == nil {
			continue
		}
		if err := o.send(func() error { return o.x.Write(out) }); err != nil {
			return err
		}
		if o.over {
			return io.EOF
		}
	}
}

// leave ends everything that depends on the stream. A legacy session ends with it; its open calls are answered while the client
// is still connected.
func (o *stream) leave() {
	if o.s != nil && o.legacy != "" {
		o.x.Handler.legacy.forget(o.legacy)
		gone := o.x.Request.Context().Err() != nil
		for _, call := range o.s.takeAll() {
			if gone {
				call.Cancelled(o.x.Context)
				continue
			}
			o.sendAnswer(call.Fail(o.x.Context, gateway.NewError(candor.CodeUpstreamGone, "reason", "connection closed")))
		}
	}
	if o.s != nil {
		o.s.detach(o)
	}
	o.close()
}

// handleEvent returns the bytes that the client gets for an event.
func (o *stream) handleEvent(e *framing.Event) []byte {
	if isEndpoint(e) {
		return o.handleEndpoint(e)
	}
	if out, settled := handleNonMessage(e); settled {
		return out
	}
	if e.Flaw != wireflaw.None {
		return o.answered(e, framing.PeekID(e.Head, e.Tail), func(c *gateway.Call) gateway.Reply {
			return c.Lose(o.x.Context, gateway.OversizeError(o.x.Handler.up.MaxBytes()), nil, true)
		})
	}
	m := wire.Parse(e.Data, o.x.Handler.up.Options.Limits.Message)
	switch {
	case isAsked(&m):
		if token := o.x.Handler.readNotification(&m); token != nil && o.s != nil {
			o.s.extend(token)
		}
		return e.Raw
	case isHeartbeat(&m) && !e.Unended:
		return o.x.Handler.heartbeat(e)
	case m.Kind() == wire.KindMalformed && (e.Unended || m.Method() != nil || m.ID() == nil):
		o.stray(e.Data)
		return nil
	}
	return o.answered(e, m.ID(), func(c *gateway.Call) gateway.Reply { return c.Close(o.x.Context, e.Data) })
}

// answered ends the call that an event answers. An answer to no open call is dropped from a legacy stream; on other streams it
// may be one that is resent to a client that missed it.
func (o *stream) answered(e *framing.Event, id wire.ID, end func(*gateway.Call) gateway.Reply) []byte {
	var call *gateway.Call
	if o.s != nil {
		call = o.s.take(id)
	}
	if call != nil {
		out, _ := onStream(e, end(call))
		return out
	}
	if o.legacy == "" && e.Flaw == wireflaw.None {
		out, _ := onStream(e, gateway.Reply{Bytes: o.x.Handler.up.Resend(o.x.Context, e.Data, o.x.Session, func() bool {
			o.x.strays++
			return o.x.strays <= maxHTTPStrays
		})})
		return out
	}
	o.stray(e.Data)
	return nil
}

// stray records an answer that belongs to no call, up to maxHTTPStrays times.
func (o *stream) stray(answer []byte) {
	if o.x.strays++; o.x.strays <= maxHTTPStrays {
		o.x.Handler.up.Stray(o.x.Context, answer, o.x.Session)
	}
}

// postLegacy forwards a message to a legacy server, whose answer comes on the stream.
func (x *Exchange) postLegacy(key string) {
	s := x.Handler.legacy.get(key)
	if s == nil {
		x.Reject(http.StatusNotFound, common.SessionNotFound)
		return
	}
	x.Session, x.target = key, s.endpoint
	switch m, ok := x.posted(); {
	case !ok:
	case m.Kind() == wire.KindRequest:
		x.askLegacy(s, &m)
	default:
		x.notify(s, &m)
	}
}

// askLegacy forwards a request from a legacy client. Its answer is sent on the stream.
func (x *Exchange) askLegacy(s *session, m *wire.Message) {
	defer x.Handler.Calls.Add(-1) // from now on the parked call is counted
	if x.Handler.Calls.Add(1) > int64(x.Handler.Options.Calls) {
		x.accepted(s, x.tooManyResponse(m, candor.CodeTooManyCalls))
		return
	}
	call, refusal := x.Handler.up.Admit(x.Context, m, x.Session)
	if call == nil {
		x.accepted(s, refusal)
		return
	}
	if !s.park(x, call) {
		x.Respond(http.StatusBadRequest, call.Fail(x.Context, gateway.NewError(candor.CodeInvalidRequest, "reason", "a call with this id is open")))
		return
	}
	defer x.limitTime()()
	res, err := x.send(http.MethodPost, call.Bytes()) //nolint:bodyclose // pass and rejectedLegacy close it
	if err == nil && res.StatusCode < 300 {
		x.pass(res, nil)
		return
	}
	e, said := (*candor.Error)(nil), []byte(nil)
	if err != nil {
		e, _ = x.errBroken(err)
	} else {
		e, said = x.rejectedLegacy(res)
	}
	if s.take(call.ID()) == nil {
		x.accepted(s, nil)
		return
	}
	x.accepted(s, call.Lose(context.WithoutCancel(x.Context), e, said, true).Bytes)
}

// rejectedLegacy reads the rejection of a legacy POST. It returns the error and the body.
func (x *Exchange) rejectedLegacy(res *http.Response) (e *candor.Error, said []byte) {
	defer func() { _ = res.Body.Close() }()
	if isRedirect(res.StatusCode) {
		return x.errRedirect(res), nil
	}
	if decode(res) {
		said, _ = x.readMessage(res.Body, res.ContentLength, httpguard.Midsize)
	}
	return rejected(res.StatusCode, res.Header, said), said
}

// accepted responds to a legacy POST, and sends the answer to the call on the client's stream.
func (x *Exchange) accepted(s *session, answer []byte) {
	if out := s.stream(); out != nil {
		out.sendAnswer(answer)
	}
	x.Respond(http.StatusAccepted, nil)
}
