package httpgate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
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
	http.StatusMisdirectedRequest:    candor.CodeUpstreamUnavailable,
	http.StatusTooEarly:              candor.CodeUpstreamUnavailable,
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
	case status == http.StatusProxyAuthRequired:
		return unreached(refusedByProxy(status))
	case status == http.StatusBadRequest && strings.Contains(text, "JSON RPC not handled"):
		code = candor.CodeMethodNotFound // as the official Go SDK does
	case !ok && status < 500:
		code = candor.CodeUpstreamRejected
	case !ok:
		code = candor.CodeUpstreamError
	}
	details := map[string]any{"status": status}
	if provesRefusal(status, h) {
		details["effect"] = "none"
	}
	if kind := httpguard.MediaType(h); text != "" && kind != "text/html" {
		details["said"] = candor.Public(text, maxSaid)
	}
	options := []candor.Option{candor.WithOrigin(candor.PartyServer, true), candor.WithDetails(details)}
	if after, ok := httpguard.RetryAfter(h, time.Now()); ok {
		options = append(options, candor.WithRetry(candor.RetryIn(after)))
	}
	return candor.New(code, "", options...)
}

// provesRefusal reports whether a server answers with this status before it runs a tool. It has events to report only
// after that.
func provesRefusal(status int, h http.Header) bool {
	if httpguard.MediaType(h) == "text/event-stream" {
		return false
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests:
		return true
	default:
		return false
	}
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

// errBroken returns the error for a request without an answer, and whether the upstream may have received it.
func (x *Exchange) errBroken(err error) (e *candor.Error, reached bool) {
	op, isOp := errors.AsType[*net.OpError](err)
	if x.connecting || isOp && op.Op == "dial" || isBadProxy(err) {
		return unreached(err), false
	}
	return gateway.NewError(candor.CodeUpstreamGone, "reason", reasonOf(err)), true
}

// unreached returns the error for a request that was not sent, because no connection could be opened.
func unreached(err error) *candor.Error {
	reason := reasonOf(err)
	e := gateway.NewError(candor.CodeUpstreamUnreachable, "reason", reason, "effect", "none")
	if lasts := isLasting(err, reason); lasts || strings.HasPrefix(reason, "the proxy") {
		e = e.With(candor.WithMessage("No connection to the server could be opened: " + reason + "."))
		if lasts {
			e = e.With(candor.WithRetry(candor.NoRetry()), candor.WithSuggestion("Ask the operator to check the address, the certificate and the proxy of this server."))
		}
	}
	return e
}

// isLasting reports whether only the operator can remove a cause: a certificate, the use of TLS, or the settings of a
// proxy. A proxy that is busy, or that does not reach the server, may do so later.
func isLasting(err error, reason string) bool {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	refused, isRefused := errors.AsType[refusedByProxy](err)
	return untrusted || isBadProxy(err) || reason == reasonTLS || isRefused && refused < 500 && refused != http.StatusTooManyRequests
}

// refusedByProxy is the error for a status with which a proxy answered in place of the server.
type refusedByProxy int

func (r refusedByProxy) Error() string { return "the proxy answered " + strconv.Itoa(int(r)) }

// noteConnect is [http.Transport.OnProxyConnectResponse].
func noteConnect(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode != http.StatusOK {
		return refusedByProxy(res.StatusCode)
	}
	return nil
}

// isBadProxy reports whether a proxy is configured in a way that net/http cannot use.
func isBadProxy(err error) bool { return strings.HasPrefix(err.Error(), "invalid proxy address") }

// reasonOf describes a connection error without addresses.
func reasonOf(err error) string {
	if refused, ok := errors.AsType[refusedByProxy](err); ok {
		return refused.Error()
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "proxyconnect" {
		return "the proxy: " + reasonOf(op.Err)
	}
	if untrusted, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		name, _ := errors.AsType[x509.HostnameError](untrusted.Err)
		invalid, _ := errors.AsType[x509.CertificateInvalidError](untrusted.Err)
		switch {
		case name.Certificate != nil:
			return "the certificate is of another host"
		case invalid.Cert != nil && invalid.Reason == x509.Expired:
			return "the certificate has expired, or is not valid yet"
		}
		return "certificate not trusted"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "name not found"
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
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
