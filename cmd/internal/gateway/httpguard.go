package gateway

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

// httpRefusal is a request that is turned away before anybody reads it.
type httpRefusal struct {
	status int
	err    *candor.Error
}

const httpMethods = "GET, POST, DELETE"

func httpRefuse(status int, code candor.Code, options ...candor.Option) *httpRefusal {
	return &httpRefusal{status, candor.New(code, "", append(options, candor.WithOrigin(candor.PartyGateway, false))...)}
}

// refuses looks at what a browser cannot forge, then at the token, then at the form of the request. It returns nil if the
// request may be read.
func (d *httpDoor) refuses(r *http.Request) *httpRefusal {
	switch {
	case !d.guard.KnowsHost(r.Host):
		return httpRefuse(http.StatusForbidden, candor.CodeHostRefused)
	case !d.guard.KnowsOrigin(r):
		return httpRefuse(http.StatusForbidden, candor.CodeOriginRefused)
	case d.o.Token != "" && !hostguard.Bears(r.Header, d.o.Token):
		return httpRefuse(http.StatusUnauthorized, candor.CodeTokenRequired)
	}
	switch r.Method {
	case http.MethodGet, http.MethodDelete:
		return nil
	case http.MethodPost:
		if !isPlainJSON(r.Header) {
			return httpRefuse(http.StatusUnsupportedMediaType, candor.CodeMediaTypeUnsupported)
		}
		return nil
	}
	return httpRefuse(http.StatusMethodNotAllowed, candor.CodeMethodNotAllowed,
		candor.WithDetails(map[string]any{"allowed": strings.Split(httpMethods, ", ")}))
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

// turnAway answers a request that was not read: nobody knows whose call it is.
func (x *httpExchange) turnAway(no *httpRefusal) {
	switch no.status {
	case http.StatusMethodNotAllowed:
		x.w.Header().Set("Allow", httpMethods)
	case http.StatusUnauthorized:
		x.w.Header().Set("WWW-Authenticate", `Bearer realm="candor"`)
	case http.StatusServiceUnavailable:
		x.w.Header().Set("Retry-After", "1")
	}
	x.answer(no.status, x.d.up.rejectUnread(x.ctx, x.session, no.err))
}

const peekBytes = 4 << 10

// readBody reads the message of a POST. What is wrong with it was answered if ok is false.
func (x *httpExchange) readBody() (body []byte, ok bool) {
	rc := http.NewResponseController(x.w)
	_ = rc.SetReadDeadline(time.Now().Add(x.d.o.Patience))
	limit, said := int64(x.d.up.maxBytes()), x.r.ContentLength
	if said > limit {
		limit = peekBytes // enough for the id: the rest is refused unread
	}
	body, err := x.holdRequest(said, limit)
	if said > int64(x.d.up.maxBytes()) {
		err = errTooLarge
	}
	_ = rc.SetReadDeadline(time.Time{}) // or the stream that follows would end with it
	switch {
	case errors.Is(err, errTooLarge):
		x.w.Header().Set("Connection", "close")
		head, tail := body[:min(len(body), peekBytes)], body[max(0, len(body)-256):]
		if said > int64(len(body)) {
			tail = nil
		}
		x.answer(http.StatusRequestEntityTooLarge, x.d.up.Oversize(x.ctx, max(said, int64(len(body))), head, tail, x.session))
	case errors.Is(err, errNoRoom):
		x.w.Header().Set("Connection", "close")
		x.turnAway(httpRefuse(http.StatusServiceUnavailable, candor.CodeTooManyCalls))
	case errors.Is(err, os.ErrDeadlineExceeded):
		x.w.Header().Set("Connection", "close")
		x.turnAway(httpRefuse(http.StatusRequestTimeout, candor.CodeTimeout))
	case err != nil:
		x.w.Header().Set("Connection", "close")
		x.turnAway(httpRefuse(http.StatusBadRequest, candor.CodeParseError))
	default:
		return body, true
	}
	return nil, false
}
