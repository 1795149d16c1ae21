package httpgate

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/internal/httpguard"
)

// The gateway requests answers without a content coding. Some servers and proxies compress nevertheless. Their answers are
// decompressed to be classified: a rejection keeps its status, and a success its content.

const (
	// maxCodings bounds the number of codings applied to one body.
	maxCodings = 2
	// maxRatio bounds the compression ratio of a body that is larger than a message may be.
	maxRatio = 256
)

// errDamaged is the error for a compressed body that cannot be decompressed.
var errDamaged = errors.New("the compressed body is damaged")

// contentCodings returns the codings of a body in the order they were applied, without identity. It does not allocate if there
// are none.
func contentCodings(h http.Header) []string {
	said := h["Content-Encoding"]
	if len(said) == 0 {
		return nil
	}
	var codings []string
	for name := range strings.SplitSeq(strings.Join(said, ","), ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" && name != "identity" {
			codings = append(codings, strings.TrimPrefix(name, "x-"))
		}
	}
	return codings
}

// decode replaces the body of a response that is compressed with gzip or deflate by a decompressing one. It returns false, and
// does not change the response, if the gateway does not support the coding.
func (x *Exchange) decode(res *http.Response) bool {
	x.coded = nil
	codings := contentCodings(res.Header)
	if len(codings) == 0 {
		return true
	}
	if len(codings) > maxCodings || slices.ContainsFunc(codings, func(c string) bool { return c != "gzip" && c != "deflate" }) {
		return false
	}
	coded := &codedBody{raw: res.Body, header: res.Header["Content-Encoding"]}
	coded.keep = mediaType(res.Header) != "text/event-stream" && (x.Handler.up.Options.Mode == gateway.ModeObserve || acceptsCodings(x.Request.Header, codings))
	r := coded.tee()
	for _, coding := range slices.Backward(codings) {
		r = &decoder{coding: coding, src: counted{Reader: r}, most: int64(x.Handler.up.MaxBytes())}
	}
	coded.Reader = r
	x.coded = coded
	res.Body, res.ContentLength = coded, -1
	delete(res.Header, "Content-Encoding")
	delete(res.Header, "Content-Length")
	return true
}

// acceptsCodings reports whether a client accepts all of the codings with its Accept-Encoding.
func acceptsCodings(h http.Header, codings []string) bool {
	accepted := map[string]bool{}
	for item := range strings.SplitSeq(strings.Join(h["Accept-Encoding"], ","), ",") {
		name, params, _ := strings.Cut(item, ";")
		name = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), "x-")
		weight, isWeight := strings.CutPrefix(strings.ToLower(strings.ReplaceAll(params, " ", "")), "q=")
		q, err := strconv.ParseFloat(weight, 64)
		accepted[name] = !isWeight || err == nil && q > 0
	}
	return !slices.ContainsFunc(codings, func(c string) bool { return !accepted[c] })
}

// codedBody is a compressed body that is read decompressed. If the client accepts the coding, and in observe mode, it keeps the
// compressed bytes, and an unchanged success is sent as those bytes.
type codedBody struct {
	io.Reader
	raw    io.ReadCloser
	header []string // the Content-Encoding
	keep   bool
	most   int64 // bytes that may be kept, for which memory is reserved
	bytes  []byte
	whole  []byte // the decompressed body; nil until all of it was read
}

// reserve returns the memory needed for a buffer of that size for the decompressed body and, if the compressed body is kept, as
// much for that one, which is rarely larger.
func (c *codedBody) reserve(size int64) int64 {
	if c == nil || !c.keep {
		return size
	}
	c.most = max(size, 2*httpguard.SmallMessage)
	return 2 * size
}

// Close closes the compressed body.
func (c *codedBody) Close() error { return c.raw.Close() }

// tee returns a reader of the compressed bytes that keeps them as long as memory is reserved.
func (c *codedBody) tee() io.Reader {
	if !c.keep {
		return c.raw
	}
	return readerFunc(func(p []byte) (int, error) {
		n, err := c.raw.Read(p)
		if c.keep = c.keep && int64(len(c.bytes)+n) <= c.most; c.keep {
			c.bytes = append(c.bytes, p[:n]...)
		} else {
			c.bytes = nil
		}
		return n, err
	})
}

// original returns the bytes that the upstream sent for a body, or nil if they were not kept or the body was changed.
func (c *codedBody) original(body []byte) []byte {
	if !c.keep || c.whole == nil || len(body)+len(c.whole) > 0 && !gateway.SameBytes(body, c.whole) {
		return nil
	}
	return c.bytes
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// counted counts the bytes read and keeps the error.
type counted struct {
	io.Reader
	n   int64
	err error
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	if err != nil {
		c.err = err
	}
	return n, err
}

// decoder undoes one coding. It reads nothing before its first Read, because the first byte of a stream may arrive late.
type decoder struct {
	coding string
	src    counted
	out    io.Reader
	most   int64 // number of bytes returned regardless of the ratio
	n      int64
}

func (d *decoder) Read(p []byte) (int, error) {
	if d.out == nil {
		if err := d.open(); err != nil {
			return 0, d.explain(err)
		}
	}
	n, err := d.out.Read(p)
	if d.n += int64(n); d.n > d.most+maxRatio*d.src.n+1 {
		return n, httpguard.ErrTooLarge
	}
	return n, d.explain(err)
}

// open reads the header of the coding. An empty body is valid in every coding.
func (d *decoder) open() (err error) {
	in := bufio.NewReader(&d.src)
	first, err := in.Peek(2)
	if len(first) == 0 {
		return err
	}
	switch {
	case d.coding == "gzip":
		d.out, err = gzip.NewReader(in)
	case len(first) == 2 && first[0]&15 == 8 && (int(first[0])<<8|int(first[1]))%31 == 0:
		d.out, err = zlib.NewReader(in)
	default: // without the zlib header, as some servers send it
		d.out, err = flate.NewReader(in), nil
	}
	if err != nil {
		d.out = nil
	}
	return err
}

// explain distinguishes errors of the source from damaged data.
func (d *decoder) explain(err error) error {
	switch {
	case err == nil, err == io.EOF && (d.out != nil || d.src.n == 0): //nolint:errorlint // the very end, not one that is wrapped
		return err
	case d.src.err != nil && !errors.Is(d.src.err, io.EOF), errors.Is(err, httpguard.ErrTooLarge), errors.Is(err, errDamaged):
		return d.src.err
	}
	return fmt.Errorf("%w: %w", errDamaged, err)
}

// uncoded returns the original body of the connection.
func uncoded(body io.ReadCloser) io.ReadCloser {
	if c, ok := body.(*codedBody); ok {
		return c.raw
	}
	return body
}

// unreadable ends a call whose answer has a coding that the gateway cannot read. A rejection is classified by its status and
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
	coding := strings.Join(h["Content-Encoding"], ", ")
	if len(coding) > 32 || strings.ContainsFunc(coding, func(r rune) bool { return !isCodingRune(r) }) {
		coding = "unknown"
	}
	return gateway.NewError(candor.CodeUpstreamBadResponse, "contentEncoding", coding).With(candor.WithRetry(candor.Retry{}),
		candor.WithMessage("The server's answer has a Content-Encoding that the gateway does not read."),
		candor.WithSuggestion("Check whether the call took effect. Ask the operator to turn this encoding off at the server."))
}

func isCodingRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || bytes.ContainsRune([]byte(" ,-_."), r)
}

// errBadCoding returns the error for an answer that cannot be decompressed.
func errBadCoding() *candor.Error {
	return gateway.NewError(candor.CodeUpstreamBadResponse, "reason", errDamaged.Error()).With(candor.WithRetry(candor.Retry{}),
		candor.WithMessage("The server's answer is compressed and damaged."),
		candor.WithSuggestion("Check whether the call took effect, and report the server to its operator."))
}
