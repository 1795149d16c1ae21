package http1

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	readSize  = 8 << 10  // also the longest chunk size line, with its extension
	oneWrite  = 64 << 10 // a larger body is sent separately
	maxInform = 8        // maximum number of informational responses before the final one
)

// conn is a connection to a server. It is used by one exchange at a time.
type conn struct {
	net.Conn
	client *Client
	to     origin
	quiet  func() bool // reports whether the server has neither closed nor written; nil if unknown
	expire func()      // makes all further reads and writes fail
	in     *bufio.Reader
	out    []byte
	since  time.Time // when it became idle
	before func()    // called before every read that may block; may be nil
}

// newConn returns a connection over nc. Below is the underlying TCP connection.
func newConn(c *Client, to origin, nc, below net.Conn) *conn {
	n := &conn{Conn: nc, client: c, to: to}
	n.in = bufio.NewReaderSize(n, readSize)
	n.expire = func() { _ = n.SetDeadline(longAgo) }
	if s, ok := below.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			n.quiet = quiet(raw)
		}
	}
	return n
}

// Read reads from the server, after calling before.
func (n *conn) Read(p []byte) (int, error) {
	if n.before != nil {
		n.before()
	}
	return n.Conn.Read(p)
}

// BeforeWait registers f to be called each time that reading the body may block. A proxy can then forward all data that has
// arrived with one write and without delay. It returns false if the body does not come from a [Client].
func BeforeWait(of io.ReadCloser, f func()) bool {
	b, ok := of.(*body)
	if ok && b.done == nil {
		b.n.before = f
	}
	return ok
}

// isUsable reports whether the server has neither closed the connection nor sent unexpected data.
func (n *conn) isUsable() bool { return n.in.Buffered() == 0 && (n.quiet == nil || n.quiet()) }

var longAgo = time.Unix(1, 0)

// exchange sends a request and reads the head of the response. The connection is closed if that fails. Prepared is the request as
// written to another connection without success, or nil on the first attempt.
func (n *conn) exchange(ctx context.Context, r *http.Request, prepared []byte) (*http.Response, error) {
	// A context that ends makes every read and write on the connection fail.
	calm := context.AfterFunc(ctx, n.expire)
	err := n.send(r, prepared)
	var res *http.Response
	if err == nil {
		res, err = n.receive(r, calm)
	}
	if err == nil {
		return res, nil
	}
	calm()
	_ = n.Close()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, err
}

// send writes a request with one write, unless its body is large. Prepared is the data of an earlier attempt. For a large body it
// is the head only, and the body has not been read.
func (n *conn) send(r *http.Request, prepared []byte) error {
	if prepared != nil {
		n.out = prepared
		if r.ContentLength > oneWrite {
			return n.sendLarge(r)
		}
		return n.write(n.out)
	}
	head, err := appendHead(n.out[:0], r)
	if err != nil {
		return err
	}
	n.out = head
	if r.Body == nil || r.ContentLength > oneWrite {
		return n.sendLarge(r)
	}
	size := int(r.ContentLength)
	for cap(n.out) < len(head)+size {
		n.out = append(n.out[:cap(n.out)], 0)
	}
	n.out = n.out[:len(head)+size]
	if _, err := io.ReadFull(r.Body, n.out[len(head):]); err != nil {
		return fmt.Errorf("reading the request's body: %w", err)
	}
	return n.write(n.out)
}

func (n *conn) sendLarge(r *http.Request) error {
	if err := n.write(n.out); err != nil || r.Body == nil {
		return err
	}
	_, err := io.CopyN(n.Conn, r.Body, r.ContentLength)
	return err
}

// write returns errUnsent if the connection accepted no byte.
func (n *conn) write(p []byte) error {
	took, err := n.Write(p)
	if err != nil && took == 0 {
		return errors.Join(errUnsent, err)
	}
	return err
}

// appendHead appends the head of a request.
func appendHead(dst []byte, r *http.Request) ([]byte, error) {
	dst = append(append(dst, r.Method...), ' ')
	dst = append(append(dst, r.URL.RequestURI()...), " HTTP/1.1\r\nHost: "...)
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	dst = append(append(dst, host...), "\r\n"...)
	if strings.ContainsAny(host+r.Method, " \r\n") {
		return nil, errHead
	}
	for name, values := range r.Header {
		if !isToken(name) {
			return nil, errHead
		}
		for _, value := range values {
			if strings.ContainsAny(value, "\r\n\x00") {
				return nil, errHead
			}
			dst = append(append(append(append(dst, name...), ": "...), value...), "\r\n"...)
		}
	}
	if r.Body != nil {
		dst = append(strconv.AppendInt(append(dst, "Content-Length: "...), r.ContentLength, 10), "\r\n"...)
	}
	return append(dst, "\r\n"...), nil
}

var errHead = errors.New("request header: invalid characters")

// receive reads the head of the response and prepares its body.
func (n *conn) receive(r *http.Request, calm func() bool) (*http.Response, error) {
	for range maxInform {
		h, err := readHead(n.in)
		if err != nil {
			return nil, err
		}
		if h.status == http.StatusSwitchingProtocols {
			return nil, malformed("protocol switched")
		}
		if h.status < 200 {
			continue
		}
		b, err := newBody(n, h, r.Method)
		if err != nil {
			return nil, err
		}
		b.stopWatch, b.ctx = calm, r.Context()
		res := &http.Response{
			Status: http.StatusText(h.status), StatusCode: h.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: h.header, Body: b, ContentLength: b.length, Request: r,
		}
		b.skipEmpty()
		return res, nil
	}
	return nil, malformed("too many informational answers")
}
