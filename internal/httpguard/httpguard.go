// Package httpguard decides which HTTP requests an MCP server or gateway accepts, and how much memory their messages may use. It
// protects a server on a local machine from web pages by the Host and Origin headers, which a browser sets and a page cannot forge.
package httpguard

import (
	"context"
	"crypto/subtle"
	"errors"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
)

// Guard specifies the requests that are accepted. The zero value accepts those of this machine, without a token.
type Guard struct {
	Hosts   []string // host names of the server, with or without port; "*" is any. Loopback names are always accepted.
	Origins []string // origins that may send requests; "*" is any. Loopback and same-host origins are always accepted.
	Token   string   // bearer token that every request must have; "" requires none

	By candor.Party // origin of the errors in refusals
}

// ConsoleCookie begins the names of the cookies with which browsers are logged in to consoles.
const ConsoleCookie = "candor-console-"

// AllowedMethods is the value of the Allow header.
const AllowedMethods = "GET, POST, DELETE"

// Check checks Host and Origin, then the token, then the method and the content type. It returns nil if the request may be read.
func (g *Guard) Check(r *http.Request) *Refusal {
	switch {
	case !g.KnowsHost(r.Host):
		return g.Refuse(http.StatusForbidden, candor.CodeHostRefused)
	case !g.KnowsOrigin(r):
		return g.Refuse(http.StatusForbidden, candor.CodeOriginRefused)
	case g.Token != "" && !bears(r.Header, g.Token):
		return g.Refuse(http.StatusUnauthorized, candor.CodeTokenRequired)
	}
	switch r.Method {
	case http.MethodGet, http.MethodDelete:
		return nil
	case http.MethodPost:
		if !isPlainJSON(r.Header) {
			return g.Refuse(http.StatusUnsupportedMediaType, candor.CodeMediaTypeUnsupported)
		}
		return nil
	}
	return g.Refuse(http.StatusMethodNotAllowed, candor.CodeMethodNotAllowed,
		candor.WithDetails(map[string]any{"allowed": strings.Split(AllowedMethods, ", ")}))
}

// MediaType returns the type of a body without its parameters, in lower case.
func MediaType(h http.Header) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// isPlainJSON reports whether the body is JSON without a content coding.
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

// Refusal is the answer to a request that is refused before its message is parsed.
type Refusal struct {
	Status int
	Err    *candor.Error
}

// Refuse returns a refusal.
func (g *Guard) Refuse(status int, code candor.Code, options ...candor.Option) *Refusal {
	return &Refusal{status, candor.New(code, "", append(options, candor.WithOrigin(g.By, false))...)}
}

// RefuseBody returns the refusal for a body that [ReadBody] could not read.
func (g *Guard) RefuseBody(err error, maxBytes int) *Refusal {
	switch {
	case errors.Is(err, ErrTooLarge):
		return g.Refuse(http.StatusRequestEntityTooLarge, candor.CodeMessageTooLarge, candor.WithDetails(map[string]any{"maxBytes": maxBytes}))
	case errors.Is(err, ErrBudget), errors.Is(err, context.Canceled): // the client may have left while its request waited
		return g.Refuse(http.StatusServiceUnavailable, candor.CodeUnavailable, candor.WithMessage("Too many large requests are in progress."))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return g.Refuse(http.StatusRequestTimeout, candor.CodeTimeout, candor.WithMessage("The request did not arrive in time."))
	}
	return g.Refuse(http.StatusBadRequest, candor.CodeParseError, candor.WithCause(err))
}

// SetHeaders sets the headers that belong to the status of the refusal.
func (no *Refusal) SetHeaders(h http.Header) {
	switch no.Status {
	case http.StatusMethodNotAllowed:
		h.Set("Allow", AllowedMethods)
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="candor"`)
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	}
}

// KnowsHost reports whether a Host header is accepted. This prevents DNS rebinding: if evil.example resolves to this machine, a page
// of it sends that name as Host.
func (g Guard) KnowsHost(host string) bool {
	name := hostName(host)
	if IsLoopback(name) {
		return true
	}
	for _, known := range g.Hosts {
		if known == "*" || name != "" && (strings.EqualFold(known, host) || strings.EqualFold(known, name)) {
			return true
		}
	}
	return false
}

// KnowsOrigin reports whether the Origin of a request is accepted. This stops requests of other pages in the same browser. A request
// without Origin is accepted, because programs do not send one.
func (g Guard) KnowsOrigin(r *http.Request) bool {
	said := r.Header["Origin"]
	if len(said) == 0 {
		return true
	}
	if len(said) > 1 {
		return false
	}
	for _, known := range g.Origins {
		if known == "*" || strings.EqualFold(strings.TrimSuffix(known, "/"), said[0]) {
			return true
		}
	}
	origin, err := url.Parse(said[0])
	if err != nil || origin.Scheme != "http" && origin.Scheme != "https" || origin.Host == "" {
		return false
	}
	return IsLoopback(origin.Hostname()) || strings.EqualFold(origin.Host, r.Host)
}

// AllowedOrigin returns the value of Access-Control-Allow-Origin for a request with one of the Origins: that origin, or
// "*" if only "*" matches. For every other request it returns "", even for loopback origins, which [Guard.KnowsOrigin] accepts.
func (g Guard) AllowedOrigin(r *http.Request) string {
	said := r.Header["Origin"]
	if len(said) != 1 {
		return ""
	}
	allowed := ""
	for _, known := range g.Origins {
		switch {
		case known == "*":
			allowed = "*"
		case strings.EqualFold(strings.TrimSuffix(known, "/"), said[0]):
			return said[0]
		}
	}
	return allowed
}

// hostName returns a Host header without its port and brackets.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// IsLoopback reports whether name is localhost or a loopback address.
func IsLoopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}

// bears reports whether the headers have the bearer token. It compares in constant time, so that timing does not reveal the token.
func bears(h http.Header, token string) bool {
	said := h["Authorization"]
	if len(said) != 1 {
		return false
	}
	scheme, got, _ := strings.Cut(said[0], " ")
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare([]byte(strings.TrimSpace(got)), []byte(token)) == 1
}

// StatusCodes maps the status with which a server or a proxy refuses a message to a code.
var StatusCodes = map[int]candor.Code{
	http.StatusBadRequest:            candor.CodeInvalidRequest,
	http.StatusUnauthorized:          candor.CodeUnauthenticated,
	http.StatusPaymentRequired:       candor.CodePaymentRequired,
	http.StatusForbidden:             candor.CodePermissionDenied,
	http.StatusNotFound:              candor.CodeNotFound,
	http.StatusMethodNotAllowed:      candor.CodeMethodNotAllowed,
	http.StatusNotAcceptable:         candor.CodeMediaTypeUnsupported,
	http.StatusRequestTimeout:        candor.CodeTimeout,
	http.StatusConflict:              candor.CodeConflict,
	http.StatusPreconditionFailed:    candor.CodePreconditionFailed,
	http.StatusRequestEntityTooLarge: candor.CodeMessageTooLarge,
	http.StatusUnsupportedMediaType:  candor.CodeMediaTypeUnsupported,
	http.StatusTooManyRequests:       candor.CodeRateLimited,
	http.StatusInternalServerError:   candor.CodeInternalError,
	http.StatusNotImplemented:        candor.CodeUnsupported,
	http.StatusBadGateway:            candor.CodeUnavailable,
	http.StatusServiceUnavailable:    candor.CodeUnavailable,
	http.StatusGatewayTimeout:        candor.CodeTimeout,
}

// RetryAfter reads the Retry-After header in both its forms. Times far in the future are ignored.
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	said := h.Get("Retry-After")
	wait := time.Duration(-1)
	if seconds, err := strconv.Atoi(said); err == nil && seconds <= maxRetryAfter {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(said); err == nil {
		wait = at.Sub(now)
	}
	return wait, wait > 0 && wait <= maxRetryAfter*time.Second
}

const maxRetryAfter = 24 * 3600
