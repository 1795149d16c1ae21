package httpgate

import (
	"errors"
	"net/http"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/httpguard"
)

// Reject answers a request before its message is read.
func (x *Exchange) Reject(status int, code candor.Code) {
	x.refuse(x.Handler.guard.Refuse(status, code))
}

func (x *Exchange) refuse(no *httpguard.Refusal) {
	no.SetHeaders(x.Writer.Header())
	x.Respond(no.Status, x.Handler.up.RejectUnread(x.Context, x.Session, no.Err))
}

const peekBytes = 4 << 10

// ReadBody reads the message of a POST. If that fails, the request has been answered and ok is false.
func (x *Exchange) ReadBody() (body []byte, ok bool) {
	rc := http.NewResponseController(x.Writer)
	_ = rc.SetReadDeadline(time.Now().Add(x.Handler.Options.ClientTimeout))
	limit, said := int64(x.Handler.up.MaxBytes()), x.Request.ContentLength
	if said > limit {
		limit = peekBytes // enough to find the id; the rest of the body is not read
	}
	body, err := x.readRequest(said, limit)
	if said > int64(x.Handler.up.MaxBytes()) {
		err = httpguard.ErrTooLarge
	}
	_ = rc.SetReadDeadline(time.Time{}) // otherwise the following stream would end with it
	if err == nil {
		return body, true
	}
	x.Writer.Header().Set("Connection", "close")
	if !errors.Is(err, httpguard.ErrTooLarge) {
		x.refuse(x.Handler.guard.RefuseBody(err, x.Handler.up.MaxBytes()))
		return nil, false
	}
	head, tail := body[:min(len(body), peekBytes)], body[max(0, len(body)-256):]
	if said > int64(len(body)) {
		tail = nil
	}
	x.Respond(http.StatusRequestEntityTooLarge, x.Handler.up.Oversize(x.Context, max(said, int64(len(body))), head, tail, x.Session))
	return nil, false
}
