package driver

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/candor-mcp/candor/internal/oserror"
)

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
