package httpgate

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
)

// The gateway requests answers without a content coding. Some servers and proxies compress nevertheless. Answers compressed with
// gzip are decompressed to be classified: a rejection keeps its status, and a success its content.

// errDamaged is the error for a compressed body that cannot be decompressed.
var errDamaged = errors.New("the compressed body is damaged")

// decode replaces the body of a response that is compressed with gzip by a decompressing one. It returns false, and does not
// change the response, if the gateway does not support the coding.
func decode(res *http.Response) bool {
	switch strings.ToLower(strings.Join(res.Header["Content-Encoding"], ",")) {
	case "", "identity":
		return true
	case "gzip", "x-gzip":
	default:
		return false
	}
	res.Body, res.ContentLength = &gunzip{body: res.Body}, -1
	delete(res.Header, "Content-Encoding")
	delete(res.Header, "Content-Length")
	dropDigests(res.Header) // they apply to the compressed bytes
	return true
}

// gunzip decompresses a body. It reads nothing before its first Read, because the first byte of a stream may arrive late.
type gunzip struct {
	body io.ReadCloser
	out  *gzip.Reader
}

func (g *gunzip) Read(p []byte) (n int, err error) {
	if g.out == nil {
		g.out, err = gzip.NewReader(g.body)
	}
	if err == nil {
		n, err = g.out.Read(p)
	}
	if err == io.ErrUnexpectedEOF || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || isCorrupt(err) { //nolint:errorlint // as gzip returns it
		err = fmt.Errorf("%w: %w", errDamaged, err)
	}
	return n, err
}

// Close closes the compressed body.
func (g *gunzip) Close() error { return g.body.Close() }

func isCorrupt(err error) bool {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	return corrupt
}

// unreadable ends a call with an answer in a coding that the gateway cannot read. A rejection is classified by its status and
// headers.
func (x *Exchange) unreadable(res *http.Response) gateway.Reply {
	e := errEncoded(res.Header)
	if x.Handler.up.Options.Mode == gateway.ModeObserve {
		x.call.FailSilently(x.Context, e, nil)
		x.copyBody(res)
		return gateway.Reply{}
	}
	delete(res.Header, "Content-Encoding")
	switch {
	case x.keepsStatus(res.StatusCode):
		x.call.FailSilently(x.Context, rejected(res.StatusCode, res.Header, nil), nil)
		x.reject(res, nil, errDamaged)
		return gateway.Reply{}
	case res.StatusCode >= http.StatusBadRequest:
		return x.rejection(res, nil)
	}
	return x.sendReply(x.call.Lose(x.Context, e, nil, true))
}

// errEncoded returns the error for an answer with a coding that the gateway cannot read. The call may have taken effect.
func errEncoded(h http.Header) *candor.Error {
	return badCoding("contentEncoding", candor.Public(strings.Join(h["Content-Encoding"], ", "), 32)).With(
		candor.WithMessage("The server's answer has a Content-Encoding that the gateway does not read."))
}

// badCoding returns the error for an answer that cannot be decompressed, with a detail.
func badCoding(name, value string) *candor.Error {
	return gateway.NewError(candor.CodeUpstreamBadResponse, name, value).With(candor.WithRetry(candor.Retry{}),
		candor.WithMessage("The server's answer is compressed and damaged."),
		candor.WithSuggestion("Check whether the call took effect. Ask the operator to turn compression off at the server."))
}
