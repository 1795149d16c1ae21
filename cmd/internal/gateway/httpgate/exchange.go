package httpgate

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/httpguard"
	"github.com/candor-mcp/candor/wire"
)

// Exchange is one HTTP request from a client and its response. It belongs to the goroutine that serves the request.
type Exchange struct {
	Handler *Handler
	Writer  http.ResponseWriter
	Request *http.Request
	Context context.Context // context of the request, with the deadline of the call once it is set
	Session string
	target  *url.URL

	call          *gateway.Call   // nil if the request is not a call
	requestMemory httpguard.Share // memory of the request
	answerMemory  httpguard.Share // memory of the answer
	giveUp        context.CancelCauseFunc
	deadline      deadline

	connecting    bool // the last request had to wait for a connection to the upstream, and none was opened
	Begun         bool // the status has been sent
	stream        bool // the response is an event stream
	batchesEvents bool // events are flushed when the upstream pauses, not one by one
	unsent        bool // events are written but not flushed
	strays        int  // number of answers that belong to no call

	noise []byte // the start of the last event on the call's stream that is not a JSON-RPC message; nil if there was none
}

// errDeadline is the cause for ending an exchange after its call timed out.
var errDeadline = errors.New("the deadline of the call has passed")

// Post forwards one message from a client to the upstream.
func (x *Exchange) Post() {
	if x.Request.URL.RawQuery != "" {
		if key := x.Request.URL.Query().Get(legacyKey); key != "" {
			x.postLegacy(key)
			return
		}
	}
	switch m, ok := x.posted(); {
	case !ok:
	case m.Kind() == wire.KindRequest:
		x.ask(&m)
	default:
		x.notify(x.Handler.sessions.get(x.Session), &m)
	}
}

// posted reads the message of a POST. If it is missing or malformed, it has been answered and ok is false.
func (x *Exchange) posted() (m wire.Message, ok bool) {
	body, ok := x.ReadBody()
	if !ok {
		return m, false
	}
	if m = wire.Parse(body, x.Handler.up.Options.Limits.Message); m.Kind() == wire.KindMalformed {
		answer := x.Handler.up.Malformed(x.Context, &m, x.Session)
		x.Respond(x.statusFor(http.StatusBadRequest, answer, nil), answer)
		return m, false
	}
	return m, true
}

// notify forwards a message that needs no answer to the upstream.
func (x *Exchange) notify(s *session, m *wire.Message) {
	x.noticeCancel(s, m)
	x.relay(m.Bytes())
}

// ask forwards a request if it is admitted, and answers it exactly once.
func (x *Exchange) ask(m *wire.Message) {
	if !x.CountCall(m) {
		return
	}
	defer x.Handler.Calls.Add(-1)
	if m.MethodIs("initialize") && !x.Handler.sessions.makeSpace(x.Handler.Options.SessionIdleTimeout) {
		x.RejectTooMany(m, candor.CodeTooManySessions)
		return
	}
	call, refusal := x.Handler.up.AdmitFrom(x.Context, m, x.peer(m), !x.contradicted(m))
	if call == nil {
		x.Respond(http.StatusOK, refusal)
		return
	}
	x.call = call
	x.setDeadline()
	defer x.dropDeadline()
	defer x.register()()
	for {
		reply := x.attempt()
		if !reply.Again || !x.pause(reply.Wait) {
			return
		}
	}
}

// contradicted reports whether a header and the message disagree. Since version 2026-07-28 a server has to refuse that
// first, with a number that the protocol defines, so the gateway must not answer before it.
func (x *Exchange) contradicted(m *wire.Message) bool {
	return m.Params().Path("_meta", gateway.ProtocolVersionKey).Present() && HeaderMismatch(x.Request.Header, m) != ""
}

// CountCall counts a call that begins, or refuses it if there are too many. If it returns true, the caller must
// decrement the count when the call ends.
func (x *Exchange) CountCall(m *wire.Message) bool {
	if x.Handler.Calls.Add(1) <= int64(x.Handler.Options.Calls) {
		return true
	}
	x.Handler.Calls.Add(-1)
	x.RejectTooMany(m, candor.CodeTooManyCalls)
	return false
}

// CountStream counts a stream that a client opens by GET, or refuses it if there are too many. If it returns true, the
// caller must decrement the count when the stream ends.
func (x *Exchange) CountStream() bool {
	if x.Handler.Streams.Add(1) <= int64(x.Handler.Options.Streams) {
		return true
	}
	x.Handler.Streams.Add(-1)
	x.Reject(http.StatusServiceUnavailable, candor.CodeTooManySessions)
	return false
}

// RejectTooMany refuses a call because too many are open.
func (x *Exchange) RejectTooMany(m *wire.Message, code candor.Code) {
	x.Respond(http.StatusOK, x.tooManyResponse(m, code))
}

func (x *Exchange) tooManyResponse(m *wire.Message, code candor.Code) []byte {
	c := x.Handler.up.NewCall(m, x.Session)
	return c.Fail(x.Context, gateway.NewError(code))
}

// attempt forwards the call once and delivers the answer, or requests another attempt.
func (x *Exchange) attempt() gateway.Reply {
	res, err := x.send(http.MethodPost, x.call.Bytes())
	if err != nil {
		return x.lost(err)
	}
	defer func() { _ = res.Body.Close() }()
	x.noteSession(res)
	switch {
	case isRedirect(res.StatusCode):
		return x.sendReply(x.call.Lose(x.Context, x.errRedirect(res), nil, true))
	case !decode(res):
		return x.unreadable(res)
	case res.StatusCode == http.StatusOK && httpguard.MediaType(res.Header) == "text/event-stream":
		return x.events(res)
	default:
		return x.whole(res)
	}
}

// setDeadline starts the timeout of the call, and dropDeadline stops it.
func (x *Exchange) setDeadline() {
	ctx, giveUp := context.WithCancelCause(x.Context)
	x.Context, x.giveUp = ctx, giveUp
	x.deadline = newDeadline(x.call.Timeout(), func() { giveUp(errDeadline) })
}

func (x *Exchange) dropDeadline() {
	x.deadline.stop()
	x.giveUp(nil)
}

// deadline is the timeout of a call. The zero deadline never passes.
type deadline struct {
	timer *time.Timer
	limit time.Duration
	last  time.Time // latest end of the call, even with progress
}

func newDeadline(limit time.Duration, expire func()) deadline {
	if limit <= 0 {
		return deadline{}
	}
	return deadline{timer: time.AfterFunc(limit, expire), limit: limit, last: time.Now().Add(gateway.MaxExtension * limit)}
}

// extend restarts the timeout after progress, up to [gateway.MaxExtension] times its limit.
func (d *deadline) extend() {
	if d.timer != nil && d.timer.Stop() {
		d.timer.Reset(max(0, min(d.limit, time.Until(d.last))))
	}
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}

// pause waits before the next attempt. It returns false if the call ended in the meantime.
func (x *Exchange) pause(wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-x.Context.Done():
		x.lost(x.Context.Err())
		return false
	}
}

// lost ends a call without an answer, or requests another attempt.
func (x *Exchange) lost(err error) gateway.Reply {
	switch {
	case errors.Is(context.Cause(x.Context), errDeadline):
		return x.abandon(gateway.TimeoutError(x.call))
	case errors.Is(context.Cause(x.Context), gateway.ErrDraining):
		return x.abandon(x.call.InterruptedError())
	case errors.Is(context.Cause(x.Context), errCancelled):
		x.endCancelled()
		return gateway.Reply{}
	case x.Request.Context().Err() != nil:
		x.call.Cancelled(x.Context)
		return gateway.Reply{}
	case errors.Is(err, httpguard.ErrTooLarge):
		return x.sendReply(x.call.Lose(x.Context, gateway.OversizeError(x.Handler.up.MaxBytes()), nil, true))
	case errors.Is(err, errDamaged):
		return x.sendReply(x.call.Lose(x.Context, badCoding("reason", errDamaged.Error()), nil, true))
	default:
		e, reached := x.errBroken(err)
		return x.sendReply(x.call.Lose(x.Context, e, nil, reached))
	}
}

// abandon ends a call that the gateway does not wait for any longer, and cancels it at the upstream.
func (x *Exchange) abandon(e *candor.Error) gateway.Reply {
	x.sendAnswer(x.call.Fail(context.WithoutCancel(x.Context), e))
	x.detached().cancelUpstream(x.call)
	return gateway.Reply{}
}

// detached returns an exchange with the same upstream that outlives this one.
func (x *Exchange) detached() *Exchange {
	return &Exchange{Handler: x.Handler, Request: x.Request, Context: context.WithoutCancel(x.Context), Session: x.Session, target: x.target}
}

// cancelUpstream notifies a server before version 2026-07-28 that a call was cancelled; later versions notice the end
// of the connection. It does not wait for the server. The exchange must come from [Exchange.detached].
func (x *Exchange) cancelUpstream(c *gateway.Call) {
	if c.IsStateless() || c.Method() == "initialize" { // the protocol forbids cancelling initialize
		return
	}
	cancel := x.limitTime()
	go func() {
		defer cancel()
		if res, err := x.send(http.MethodPost, gateway.CancelNotification(c.ID(), "deadline")); err == nil {
			_ = res.Body.Close()
		}
	}()
}

// limitTime ends the exchange after [Options.ClientTimeout].
func (x *Exchange) limitTime() (cancel context.CancelFunc) {
	x.Context, cancel = context.WithTimeout(x.Context, x.Handler.Options.ClientTimeout)
	return cancel
}

// relay forwards a notification, or the client's response to a request of the server.
func (x *Exchange) relay(body []byte) {
	defer x.limitTime()()
	res, err := x.send(http.MethodPost, body) //nolint:bodyclose // pass closes it
	x.pass(res, err)
}

// End closes a session.
func (x *Exchange) End() {
	defer x.limitTime()()
	res, err := x.send(http.MethodDelete, nil) //nolint:bodyclose // pass closes it
	if s := x.Handler.sessions.get(x.Session); s != nil && err == nil && res.StatusCode < 300 {
		x.Handler.sessions.forget(x.Session)
		for _, call := range s.takeAll() { // they cannot be resumed
			call.Cancelled(x.Context)
		}
	}
	x.pass(res, err)
}

// pass forwards a response that belongs to no call. It is unchanged unless it is a rejection.
func (x *Exchange) pass(res *http.Response, err error) {
	if err != nil {
		if x.Request.Context().Err() == nil {
			e, _ := x.errBroken(err)
			x.refuse(&httpguard.Refusal{Status: http.StatusBadGateway, Err: e})
		}
		return
	}
	defer func() { _ = res.Body.Close() }()
	if isRedirect(res.StatusCode) {
		x.refuse(&httpguard.Refusal{Status: http.StatusBadGateway, Err: x.errRedirect(res)})
		return
	}
	if res.StatusCode < http.StatusBadRequest || x.Handler.up.Options.Mode == gateway.ModeObserve {
		x.copyBody(res)
		return
	}
	if !decode(res) {
		delete(res.Header, "Content-Encoding")
		x.reject(res, nil, errDamaged)
		return
	}
	body, err := x.readMessage(res.Body, res.ContentLength, httpguard.Midsize)
	x.reject(res, body, err)
}

// copyBody streams the body of a response to the client.
func (x *Exchange) copyBody(res *http.Response) {
	x.begin(res, int(res.ContentLength))
	_ = http.NewResponseController(x.Writer).SetWriteDeadline(time.Now().Add(x.Handler.Options.ClientTimeout)) // a client that does not read would block it forever
	if _, err := io.Copy(x.Writer, res.Body); err != nil {
		panic(http.ErrAbortHandler) //nolint:forbidigo // the way net/http has to show that an answer broke off
	}
}

// sendReply sends the bytes of a reply, if there are any.
func (x *Exchange) sendReply(reply gateway.Reply) gateway.Reply {
	if reply.Bytes != nil {
		x.sendAnswer(reply.Bytes)
	}
	return reply
}

// sendAnswer sends an answer of the gateway, as an event or as the whole response.
func (x *Exchange) sendAnswer(answer []byte) {
	switch {
	case answer == nil:
	case x.stream:
		_ = x.SendEvent("message", answer) // the client may have disconnected
	case !x.Begun:
		x.Respond(http.StatusOK, answer)
	}
}

// SendEvent sends an event of the gateway.
func (x *Exchange) SendEvent(kind string, data []byte) error {
	out, err := framing.AppendEvent(nil, framing.Event{Type: []byte(kind), Data: data, HasData: true})
	if err != nil {
		return err
	}
	return x.Write(out)
}

// Respond writes a complete response.
func (x *Exchange) Respond(status int, body []byte) {
	h := x.Writer.Header()
	x.allowOrigin(h)
	if len(body) > 0 {
		h.Set("Content-Type", "application/json")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.Begun = true
	x.Writer.WriteHeader(status)
	_ = x.Write(body)
}

// begin sends the upstream's status and headers. Length is the length of the body, or negative if it is unknown.
func (x *Exchange) begin(res *http.Response, length int) {
	h := x.Writer.Header()
	copyHeader(h, res.Header)
	x.allowOrigin(h)
	h.Del("Content-Length")
	if length >= 0 && res.StatusCode != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(length))
	}
	x.Begun = true
	x.Writer.WriteHeader(res.StatusCode)
}

// Write writes to the client, which must read within [Options.ClientTimeout].
func (x *Exchange) Write(p []byte) error {
	rc := http.NewResponseController(x.Writer)
	_ = rc.SetWriteDeadline(time.Now().Add(x.Handler.Options.ClientTimeout))
	if _, err := x.Writer.Write(p); err != nil {
		return err
	}
	if !x.stream {
		return nil // net/http sends it when the handler returns
	}
	if x.batchesEvents {
		x.unsent = true
		return nil
	}
	return rc.Flush()
}

// flush sends the events that were written.
func (x *Exchange) flush() {
	if x.unsent {
		x.unsent = false
		_ = http.NewResponseController(x.Writer).Flush() // the next write reports a failure
	}
}

// send sends a request to the upstream.
func (x *Exchange) send(method string, body []byte) (*http.Response, error) {
	x.connecting = false
	target := *x.target
	if target.RawQuery == "" && x.target == x.Handler.target { // a client cannot replace the key or the tenant in a configured query
		target.RawQuery = x.Request.URL.RawQuery
	}
	out := (&http.Request{
		Method: method, URL: &target, Host: target.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: x.Handler.onward(x.Request.Header),
	}).WithContext(httptrace.WithClientTrace(x.Context, &httptrace.ClientTrace{
		GetConn: func(string) { x.connecting = true }, GotConn: func(httptrace.GotConnInfo) { x.connecting = false },
	}))
	if body != nil {
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil } // if a closed connection took no byte
		out.Body, _ = out.GetBody()                                                                     // cannot fail
		out.ContentLength = int64(len(body))
	}
	return x.Handler.Options.Transport.RoundTrip(out)
}
