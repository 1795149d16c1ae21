package httpgate

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/httpguard"
	"github.com/candor-mcp/candor/internal/oserror"
	"github.com/candor-mcp/candor/wire"
)

// whole handles an answer that is not a stream.
func (x *Exchange) whole(res *http.Response) gateway.Reply {
	defer x.releaseAnswer()
	body, err := x.readMessage(res.Body, res.ContentLength, int64(x.Handler.up.MaxBytes()))
	switch {
	case x.keepsStatus(res.StatusCode):
		x.call.FailSilently(x.Context, rejected(res.StatusCode, res.Header, body), body)
		x.reject(res, body, err)
		return gateway.Reply{}
	case errors.Is(err, httpguard.ErrBudget):
		return x.failWithoutMemory()
	case errors.Is(err, errDamaged) && res.StatusCode >= http.StatusBadRequest:
		return x.rejection(res, nil)
	case err != nil:
		return x.lost(err)
	}
	m := wire.Parse(body, x.Handler.up.Options.Limits.Message)
	if res.StatusCode >= 400 && !m.Value().Path("jsonrpc").Present() {
		return x.rejection(res, body)
	}
	if m.Shape() == wire.KindRequest || m.Shape() == wire.KindNotification {
		return x.sendReply(x.call.Lose(x.Context, errNotAnswer(), body, true))
	}
	if provesRefusal(res.StatusCode, res.Header) {
		x.call.NoteRefused()
	}
	reply := x.closeWith(&m)
	if reply.Bytes != nil {
		x.deliver(res, x.statusFor(res.StatusCode, reply.Bytes, body), reply.Bytes, !gateway.SameBytes(reply.Bytes, body))
	}
	return reply
}

// reject forwards a rejection with a status and headers that clients act on. The mode determines which part of its body is kept. A
// truncated body is dropped, because a truncated secret might not be recognised.
func (x *Exchange) reject(res *http.Response, body []byte, err error) {
	shown := body
	switch mode := x.Handler.up.Options.Mode; {
	case mode == gateway.ModeObserve:
	case mode == gateway.ModeStrict, err != nil:
		shown = nil
	default:
		shown = gateway.CleanText(body, x.Handler.up.Options.Limits.Message)
	}
	if !bytes.Equal(shown, body) {
		dropDigests(res.Header)
	}
	x.deliver(res, res.StatusCode, shown, false)
}

// addressed sets the id of an error without one to the id of the call, because over HTTP it can only answer that call.
func (x *Exchange) addressed(m *wire.Message) []byte {
	if m.Kind() != wire.KindError || len(m.ID()) > 0 && !m.ID().IsNull() || x.Handler.up.Options.Mode == gateway.ModeObserve {
		return m.Bytes()
	}
	return gateway.WithMember(m.Bytes(), x.call.ID(), "id")
}

// rejection returns the reply for an upstream that rejected the call without JSON-RPC.
func (x *Exchange) rejection(res *http.Response, body []byte) gateway.Reply {
	e := rejected(res.StatusCode, res.Header, body)
	if x.Handler.up.Options.Mode == gateway.ModeObserve {
		x.call.FailSilently(x.Context, e, body)
		x.deliver(res, res.StatusCode, body, false)
		return gateway.Reply{}
	}
	reply := x.call.Lose(x.Context, e, body, true)
	if reply.Bytes != nil {
		x.deliver(res, x.statusFor(res.StatusCode, reply.Bytes, nil), reply.Bytes, true)
	}
	return reply
}

// statusFor returns the status for an answer. It is the upstream's, except that a changed answer gets 200 if it is a result,
// because clients read results only with a success status, or if the upstream's status is below 400.
func (x *Exchange) statusFor(status int, answer, said []byte) int {
	if status == http.StatusOK || bytes.Equal(answer, said) {
		return status
	}
	if m := wire.Parse(answer, x.Handler.up.Options.Limits.Message); status < 400 || m.Kind() == wire.KindResult {
		return http.StatusOK
	}
	return status
}

// deliver sends a complete answer with the upstream's headers. Changed means that the body differs from the one the upstream
// sent.
func (x *Exchange) deliver(res *http.Response, status int, body []byte, changed bool) {
	if changed {
		res.Header.Set("Content-Type", "application/json")
		dropDigests(res.Header)
	}
	res.StatusCode = status
	x.begin(res, len(body))
	_ = x.Write(body)
}

// dropDigests removes headers with digests, which do not match the bytes that are sent.
func dropDigests(h http.Header) {
	for _, digest := range []string{"Digest", "Content-Digest", "Repr-Digest", "Content-Md5", "Etag"} {
		h.Del(digest)
	}
}

// reasonTLS is the reason for a server that does not use TLS, or refuses it.
const reasonTLS = "TLS handshake failed"

// brokenReason describes how a connection ended.
func brokenReason(err error) string {
	switch text := err.Error(); { // net/http has no other way to tell
	case strings.Contains(text, "headers exceeded"):
		return "response headers larger than 64 KiB"
	case strings.Contains(text, "tls: "), strings.Contains(text, "HTTP response to HTTPS client"):
		return reasonTLS
	case isBadProxy(err):
		return "the address of the proxy is not valid"
	case strings.Contains(text, "malformed"):
		return "response is not valid HTTP"
	case oserror.IsRefused(err):
		return "connection refused"
	case oserror.IsReset(err), oserror.IsClosedPipe(err):
		return "connection reset"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "connection closed"
	default:
		return "connection failed"
	}
}

// BeginEvents begins a response that is an event stream.
func (x *Exchange) BeginEvents() {
	h := x.Writer.Header()
	x.allowOrigin(h)
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	x.Begun, x.stream = true, true
	x.Writer.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(x.Writer).Flush() // the next write reports a failure
}

// closeWith ends the call with a parsed answer.
func (x *Exchange) closeWith(m *wire.Message) gateway.Reply {
	if addressed := x.addressed(m); !gateway.SameBytes(addressed, m.Bytes()) {
		return x.call.Close(x.Context, addressed)
	}
	answer := x.call.Read(m)
	return x.call.CloseAnswer(x.Context, &answer)
}
