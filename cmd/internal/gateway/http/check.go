package httpgate

import (
	"errors"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/hostguard"
)

// Rejection is the response to a request that is refused before its message is read.
type Rejection struct {
	status int
	err    *candor.Error
}

const allowedMethods = "GET, POST, DELETE"

// NewRejection returns a rejection with an error of the gateway.
func NewRejection(status int, code candor.Code, options ...candor.Option) *Rejection {
	return &Rejection{status, candor.New(code, "", append(options, candor.WithOrigin(candor.PartyGateway, false))...)}
}

// check checks the host and origin, which a page cannot forge, then the token, then the method and media type. It returns nil if
// the request may be read.
func (d *Handler) check(r *http.Request) *Rejection {
	switch {
	case !d.guard.KnowsHost(r.Host):
		return NewRejection(http.StatusForbidden, candor.CodeHostRefused)
	case !d.guard.KnowsOrigin(r):
		return NewRejection(http.StatusForbidden, candor.CodeOriginRefused)
	case d.Options.Token != "" && !hostguard.Bears(r.Header, d.Options.Token):
		return NewRejection(http.StatusUnauthorized, candor.CodeTokenRequired)
	}
	switch r.Method {
	case http.MethodGet, http.MethodDelete:
		return nil
	case http.MethodPost:
		if !isPlainJSON(r.Header) {
			return NewRejection(http.StatusUnsupportedMediaType, candor.CodeMediaTypeUnsupported)
		}
		return nil
	}
	return NewRejection(http.StatusMethodNotAllowed, candor.CodeMethodNotAllowed,
		candor.WithDetails(map[string]any{"allowed": strings.Split(allowedMethods, ", ")}))
}

func isPlainJSON(h http.Header) bool {
	said := h.Get("Content-Type")
	if said != "application/json" {
		kind, _, err := mime.ParseMediaType(said)
		if err != nil || kind != "application/json" {
			return false
		}
	}
	coding := h.Get("Content-Encoding")
	return coding == "" || strings.EqualFold(coding, "identity")
}

// Reject answers a request that was not read, so its id is unknown.
func (x *Exchange) Reject(no *Rejection) {
	switch no.status {
	case http.StatusMethodNotAllowed:
		x.Writer.Header().Set("Allow", allowedMethods)
	case http.StatusUnauthorized:
		x.Writer.Header().Set("WWW-Authenticate", `Bearer realm="candor"`)
	case http.StatusServiceUnavailable:
		x.Writer.Header().Set("Retry-After", "1")
	}
	x.Respond(no.status, x.Handler.up.RejectUnread(x.Context, x.Session, no.err))
}

const peekBytes = 4 << 10

// ReadBody reads the message of a POST. If that fails, the request has been answered and ok is false.
func (x *Exchange) ReadBody() (body []byte, ok bool) {
	rc := http.NewResponseController(x.Writer)
	_ = rc.SetReadDeadline(time.Now().Add(x.Handler.Options.Patience))
	limit, said := int64(x.Handler.up.MaxBytes()), x.Request.ContentLength
	if said > limit {
		limit = peekBytes // enough to find the id; the rest of the body is not read
	}
	body, err := x.readRequest(said, limit)
	if said > int64(x.Handler.up.MaxBytes()) {
		err = errTooLarge
	}
	_ = rc.SetReadDeadline(time.Time{}) // otherwise the following stream would end with it
	switch {
	case errors.Is(err, errTooLarge):
		x.Writer.Header().Set("Connection", "close")
		head, tail := body[:min(len(body), peekBytes)], body[max(0, len(body)-256):]
		if said > int64(len(body)) {
			tail = nil
		}
		x.Respond(http.StatusRequestEntityTooLarge, x.Handler.up.Oversize(x.Context, max(said, int64(len(body))), head, tail, x.Session))
	case errors.Is(err, errMemoryBudget):
		x.Writer.Header().Set("Connection", "close")
		x.Reject(NewRejection(http.StatusServiceUnavailable, candor.CodeUnavailable, candor.WithMessage("Too many large requests are under way.")))
	case errors.Is(err, os.ErrDeadlineExceeded):
		x.Writer.Header().Set("Connection", "close")
		x.Reject(NewRejection(http.StatusRequestTimeout, candor.CodeTimeout))
	case err != nil:
		x.Writer.Header().Set("Connection", "close")
		x.Reject(NewRejection(http.StatusBadRequest, candor.CodeParseError))
	default:
		return body, true
	}
	return nil, false
}
