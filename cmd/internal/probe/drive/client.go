package drive

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/oserror"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// client makes the HTTP requests of the transports http and sse.
type client struct {
	http    *http.Client
	headers map[string]string
}

const (
	maxRedirects = 3
	dialWait     = 10 * time.Second
	eventStream  = "text/event-stream"
)

func newClient(t Target) *client {
	dialer := net.Dialer{Timeout: dialWait}
	return &client{headers: t.Headers, http: &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: dialWait,
			MaxResponseHeaderBytes: 1 << 20, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute,
		},
		CheckRedirect: func(next *http.Request, before []*http.Request) error {
			// The headers hold secrets that another host must not get.
			if first := before[0].URL; next.URL.Host != first.Host || next.URL.Scheme != first.Scheme || len(before) > maxRedirects {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}}
}

// do makes a request. The caller closes the response body.
func (c *client) do(ctx context.Context, method, address string, body []byte, headers http.Header) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = headers
	for name, value := range c.headers {
		r.Header.Set(name, value)
	}
	return c.http.Do(r)
}

func (c *client) close()              { c.http.CloseIdleConnections() }
func (c *client) stderr(*mask) string { return "" }
func (c *client) exitStatus() string  { return "" }

// body reads a response body that is not an event stream.
func body(r *http.Response) (arrival, error) {
	text, err := io.ReadAll(io.LimitReader(r.Body, maxMessage+1))
	a := arrival{message: text, size: int64(len(text)), whole: true, status: r.StatusCode, retryAfter: r.Header.Get("Retry-After")}
	if len(text) > maxMessage {
		a.message = text[:maxMessage]
	}
	return a, err
}

// events passes the messages of an event stream to pass, and events of another type, such as an endpoint, to other.
func events(r io.Reader, pass func(arrival) bool, other func(kind string, data []byte)) error {
	stream := framing.NewEventReader(r, wire.Limits{MaxBytes: maxMessage})
	for {
		e, err := stream.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case e.Flaw != wireflaw.None:
			if !pass(arrival{message: bytes.Clone(e.Head), tail: bytes.Clone(e.Tail), size: e.Size}) {
				return nil
			}
		case !e.HasData || len(e.Data) == 0 || e.Unended:
		case len(e.Type) > 0 && string(e.Type) != "message":
			other(string(e.Type), e.Data)
		default:
			if !pass(arrival{message: bytes.Clone(e.Data), size: int64(len(e.Data))}) {
				return nil
			}
		}
	}
}

func isEventStream(r *http.Response) bool {
	return strings.HasPrefix(strings.ToLower(r.Header.Get("Content-Type")), eventStream)
}

// brief describes how a connection failed, without addresses, so that the text is the same in every run.
func brief(err error) string {
	var wait net.Error
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		return "certificate not trusted (add its authority with SSL_CERT_FILE)"
	case errors.Is(err, http.ErrSchemeMismatch):
		return "the server does not speak TLS (use http instead of https?)"
	case errors.As(err, &name) && name.IsNotFound:
		return "no such host"
	case errors.As(err, &name):
		return "the host name cannot be resolved"
	case oserror.IsRefused(err):
		return "connection refused"
	case oserror.IsReset(err), oserror.IsClosedPipe(err):
		return "connection reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed"
	case errors.As(err, &wait) && wait.Timeout():
		return "connection timed out"
	default:
		return "connection failed"
	}
}

// parseAddress parses the URL of a server.
func parseAddress(text string) (*url.URL, error) {
	at, err := url.Parse(text)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, fmt.Errorf("%q: not the URL of a server (hint: use a URL such as http://localhost:3000/mcp)", text)
	}
	return at, nil
}
