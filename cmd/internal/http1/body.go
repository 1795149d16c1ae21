package http1

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
)

// body is the body of a response. When it has been read to its end the connection is kept for the next request.
type body struct {
	n         *conn
	ctx       context.Context
	stopWatch func() bool // stops watching the context; false if the context has already ended
	length    int64       // as announced, or -1
	left      int64       // bytes left of the body, or of the current chunk
	chunked   bool
	within    bool // inside a chunk
	reuse     bool // the connection may be reused
	done      error
}

// newBody determines the framing of the body. Contradictory framing is refused.
func newBody(n *conn, h head, method string) (*body, error) {
	b := &body{n: n, length: -1, reuse: !h.old && !closes(h.header)}
	codings, lengths := h.header["Transfer-Encoding"], h.header["Content-Length"]
	switch {
	case len(codings) > 0 && (len(lengths) > 0 || h.old):
		return nil, malformed("two framings")
	case len(codings) > 1 || len(codings) == 1 && !strings.EqualFold(codings[0], "chunked"):
		return nil, malformed("transfer coding")
	case len(lengths) > 1:
		return nil, malformed("two lengths")
	}
	delete(h.header, "Transfer-Encoding")
	if len(lengths) == 1 {
		length, ok := parseLength(lengths[0])
		if !ok {
			return nil, malformed("length")
		}
		b.length = length
	}
	switch {
	case method == http.MethodHead || h.status == http.StatusNoContent || h.status == http.StatusNotModified:
		b.left = 0
		if b.length < 0 {
			b.length = 0
		}
	case len(codings) == 1:
		b.chunked = true
	case b.length >= 0:
		b.left = b.length
	default:
		b.left, b.reuse = math.MaxInt64, false // until the connection ends
	}
	return b, nil
}

func closes(h http.Header) bool {
	for _, list := range h["Connection"] {
		for option := range strings.SplitSeq(list, ",") {
			if strings.EqualFold(strings.TrimSpace(option), "close") {
				return true
			}
		}
	}
	return false
}

// parseLength accepts only digits: no sign, no space, no list.
func parseLength(s string) (int64, bool) {
	if s == "" || len(s) > 18 {
		return 0, false
	}
	var n int64
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, true
}

// skipEmpty ends an empty body.
func (b *body) skipEmpty() {
	if !b.chunked && b.left == 0 {
		_ = b.finish(io.EOF)
	}
}

// Read reads the data that has arrived.
func (b *body) Read(p []byte) (int, error) {
	if b.done != nil || len(p) == 0 {
		return 0, b.done
	}
	if b.chunked && b.left == 0 {
		if err := b.nextChunk(); err != nil {
			return 0, b.finish(err)
		}
	}
	read, err := b.n.in.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(read)
	switch {
	case err != nil && b.length < 0 && !b.chunked && errors.Is(err, io.EOF):
		return read, b.finish(io.EOF)
	case err != nil:
		return read, b.finish(unexpected(err))
	case !b.chunked && b.left == 0:
		return read, b.finish(io.EOF)
	}
	return read, nil
}

// nextChunk reads the end of the previous chunk and the size of the next one. It returns io.EOF after the last.
func (b *body) nextChunk() error {
	if b.within {
		if line, err := readLine(b.n.in, readSize); err != nil || len(line) > 0 {
			return orMalformed(err, "chunk without end")
		}
	}
	line, err := readLine(b.n.in, readSize)
	if err != nil {
		return unexpected(err)
	}
	size, ok := parseChunk(line)
	if !ok {
		return malformed("chunk size")
	}
	if size > 0 {
		b.left, b.within = size, true
		return nil
	}
	for left := maxHead; ; left -= len(line) + 2 { // trailers are ignored
		line, err = readLine(b.n.in, max(left, 0))
		switch {
		case err != nil:
			return unexpected(err)
		case len(line) == 0:
			return io.EOF
		}
		if _, _, err := parseField(line); err != nil {
			return err
		}
	}
}

func orMalformed(err error, what string) error {
	if err != nil {
		return unexpected(err)
	}
	return malformed(what)
}

// parseChunk reads hexadecimal digits and ignores an extension.
func parseChunk(line []byte) (int64, bool) {
	var n int64
	digits := 0
	for _, c := range line {
		var d byte
		switch {
		case c >= '0' && c <= '9':
			d = c - '0'
		case c >= 'a' && c <= 'f':
			d = c - 'a' + 10
		case c >= 'A' && c <= 'F':
			d = c - 'A' + 10
		case c == ';' && digits > 0:
			return n, true
		default:
			return 0, false
		}
		if digits++; digits > 15 {
			return 0, false
		}
		n = n<<4 | int64(d)
	}
	return n, digits > 0
}

// finish ends the body and releases the connection. The connection is kept for the next request if there was no error.
func (b *body) finish(err error) error {
	if b.done != nil {
		return b.done
	}
	b.n.before = nil
	calm := b.stopWatch()
	if errors.Is(err, io.EOF) && err == io.EOF && b.reuse && calm && b.n.in.Buffered() == 0 { //nolint:errorlint // the very end, not one that is wrapped
		b.done = io.EOF
		b.n.client.keep(b.n)
		return b.done
	}
	_ = b.n.Close()
	if err != io.EOF && b.ctx.Err() != nil { //nolint:errorlint // as above
		err = b.ctx.Err()
	}
	b.done = err
	return b.done
}

// Close releases the connection. It does not wait for unread data.
func (b *body) Close() error {
	_ = b.finish(errClosed)
	return nil
}

var errClosed = errors.New("the body is closed")
