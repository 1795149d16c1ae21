package gateway

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"syscall"

	"github.com/candor-mcp/candor/cmd/internal/http1"
	"github.com/candor-mcp/candor/wire"
)

// whole brings home an answer that comes in one piece.
func (x *httpExchange) whole(res *http.Response) Reply {
	defer x.letGoAnswer()
	body, err := x.holdAnswer(res, int64(x.d.up.maxBytes()))
	switch {
	case x.untouchable(res.StatusCode):
		x.call.passOn(x.ctx, rejected(res.StatusCode, res.Header, body), body)
		x.reject(res, body, err)
		return Reply{}
	case errors.Is(err, errNoRoom):
		return x.shed()
	case errors.Is(err, errDamaged) && res.StatusCode >= http.StatusBadRequest:
		return x.rejection(res, nil)
	case err != nil:
		return x.lost(err)
	}
	m := wire.Parse(body, x.d.up.o.Limits.Message)
	if res.StatusCode >= 400 && !v(m.Value(), "jsonrpc").Present() {
		return x.rejection(res, body)
	}
	if m.Shape() == wire.KindRequest || m.Shape() == wire.KindNotification {
		return x.say(x.call.Lose(x.ctx, errNotAnswer(), body, true))
	}
	reply, clean := x.call.pass(&m)
	if !clean {
		reply = x.call.Close(x.ctx, x.addressed(&m))
	}
	if reply.Bytes != nil {
		x.deliver(res, x.statusFor(res.StatusCode, reply.Bytes, body), reply.Bytes, !same(reply.Bytes, body))
	}
	return reply
}

// reject passes a rejection on that a client acts on by its status and headers. Its words are left to the mode; half of them
// could end in half a secret, which does not look like one.
func (x *httpExchange) reject(res *http.Response, body []byte, err error) {
	shown := body
	switch mode := x.d.up.o.Mode; {
	case mode == ModeObserve:
	case mode == ModeStrict, err != nil:
		shown = nil
	default:
		shown = cleanWords(body, x.d.up.o.Limits.Message)
	}
	if !bytes.Equal(shown, body) {
		dropDigests(res.Header)
	}
	x.deliver(res, res.StatusCode, shown, false)
}

// addressed gives an error that bears no id that of the call: over HTTP there is no doubt whom it answers.
func (x *httpExchange) addressed(m *wire.Message) []byte {
	if m.Kind() != wire.KindError || len(m.ID()) > 0 && !m.ID().IsNull() || x.d.up.o.Mode == ModeObserve {
		return m.Bytes()
	}
	out, err := wire.SetMember(nil, m.Bytes(), []string{"id"}, x.call.ID())
	if err != nil {
		return m.Bytes()
	}
	return out
}

// rejection answers for an upstream that rejected the call without JSON-RPC.
func (x *httpExchange) rejection(res *http.Response, body []byte) Reply {
	e := rejected(res.StatusCode, res.Header, body)
	if x.d.up.o.Mode == ModeObserve {
		x.call.passOn(x.ctx, e, body)
		x.deliver(res, res.StatusCode, body, false)
		return Reply{}
	}
	reply := x.call.Lose(x.ctx, e, body, true)
	if reply.Bytes != nil {
		x.deliver(res, x.statusFor(res.StatusCode, reply.Bytes, nil), reply.Bytes, true)
	}
	return reply
}

// statusFor keeps the upstream's status, unless a result is now where none was: clients read results only of a success.
func (x *httpExchange) statusFor(status int, answer, said []byte) int {
	if status == http.StatusOK || bytes.Equal(answer, said) {
		return status
	}
	if m := wire.Parse(answer, x.d.up.o.Limits.Message); status < 400 || m.Kind() == wire.KindResult {
		return http.StatusOK
	}
	return status
}

// deliver sends an answer in one piece, with the upstream's headers. Changed says that it is not what the upstream sent.
func (x *httpExchange) deliver(res *http.Response, status int, body []byte, changed bool) {
	h := x.w.Header()
	copyHeader(h, res.Header)
	if changed {
		h.Set("Content-Type", "application/json")
		dropDigests(h)
	}
	if x.coded != nil {
		if original := x.coded.original(body); original != nil {
			h["Content-Encoding"], body = x.coded.header, original
		} else {
			dropDigests(h) // they speak of the compressed bytes
		}
	}
	x.allowOrigin(h)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.begun = true
	x.w.WriteHeader(status)
	_ = x.write(body)
}

// dropDigests takes the headers away that speak of other bytes than those that are sent.
func dropDigests(h http.Header) {
	for _, digest := range []string{"Digest", "Content-Digest", "Repr-Digest", "Content-Md5", "Etag"} {
		h.Del(digest)
	}
}

// brokenReason names how a connection ended.
func brokenReason(err error) string {
	switch {
	case errors.Is(err, http1.ErrHeaderTooLarge):
		return "response headers larger than 64 KiB"
	case errors.Is(err, http1.ErrMalformed):
		return "response is not valid HTTP"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "connection closed"
	default:
		return "connection failed"
	}
}

// beginEvents begins an answer that is a stream of events.
func (x *httpExchange) beginEvents() {
	h := x.w.Header()
	x.allowOrigin(h)
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	x.begun, x.stream = true, true
	x.w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(x.w).Flush() // the next write tells if that failed
}
