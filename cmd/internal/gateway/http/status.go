package httpgate

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/httpguard"
)

// httpCodes maps the status of a rejection to a code.
var httpCodes = map[int]candor.Code{
	http.StatusUnauthorized:          candor.CodeUpstreamUnauthenticated,
	http.StatusForbidden:             candor.CodeUpstreamForbidden,
	http.StatusNotFound:              candor.CodeUpstreamNotFound,
	http.StatusMethodNotAllowed:      candor.CodeMethodNotAllowed,
	http.StatusRequestTimeout:        candor.CodeUpstreamTimeout,
	http.StatusConflict:              candor.CodeUpstreamConflict,
	http.StatusRequestEntityTooLarge: candor.CodeMessageTooLarge,
	http.StatusTooManyRequests:       candor.CodeUpstreamRateLimited,
	http.StatusBadGateway:            candor.CodeUpstreamUnavailable,
	http.StatusServiceUnavailable:    candor.CodeUpstreamUnavailable,
	http.StatusGatewayTimeout:        candor.CodeUpstreamTimeout,
}

// maxSaid bounds the text of a rejection that is shown.
const maxSaid = 512

// rejected reads a rejection that is not JSON-RPC. Its text is kept, because it may be the only explanation.
func rejected(status int, h http.Header, body []byte) *candor.Error {
	text := strings.TrimSpace(string(body[:min(len(body), 4*maxSaid)]))
	code, ok := httpCodes[status]
	switch {
	case status == http.StatusBadRequest && strings.Contains(text, "JSON RPC not handled"):
		code = candor.CodeMethodNotFound // as the official Go SDK does
	case !ok && status < 500:
		code = candor.CodeUpstreamRejected
	case !ok:
		code = candor.CodeUpstreamError
	}
	details := map[string]any{"status": status}
	if kind := mediaType(h); text != "" && kind != "text/html" {
		details["said"] = candor.Public(text, maxSaid)
	}
	options := []candor.Option{candor.WithOrigin(candor.PartyServer, true), candor.WithDetails(details)}
	if after, ok := httpguard.RetryAfter(h, time.Now()); ok {
		options = append(options, candor.WithRetry(candor.RetryIn(after)))
	}
	return candor.New(code, "", options...)
}

// keepsStatus reports whether clients must see a rejection unchanged, because they use it to log in or to begin a new session.
func (x *Exchange) keepsStatus(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed:
		return true
	case http.StatusNotFound:
		return x.Session != ""
	default:
		return false
	}
}

// errBroken returns the error for a broken connection to the upstream, and whether the call may have reached it.
func errBroken(err error) (e *candor.Error, reached bool) {
	op, isOp := errors.AsType[*net.OpError](err)
	if isOp && op.Op == "dial" {
		return gateway.NewError(candor.CodeUpstreamUnreachable, "reason", reasonOf(err)), false
	}
	return gateway.NewError(candor.CodeUpstreamGone, "reason", reasonOf(err)), true
}

// reasonOf describes a connection error without addresses.
func reasonOf(err error) string {
	var timeout net.Error
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "name not found"
	}
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "timeout"
	}
	return brokenReason(err)
}

// noMemoryError returns the error for an answer that arrived while other large messages used all the memory. The call was executed.
func noMemoryError() *candor.Error {
	return gateway.NewError(candor.CodeTooLarge, "reason", httpguard.ErrBudget.Error()).With(
		candor.WithMessage("The server answered, but the gateway had no memory left to pass the answer on."),
		candor.WithSuggestion("Check whether the call took effect before retrying; then ask for less: fewer items, a smaller range, a shorter text."))
}
