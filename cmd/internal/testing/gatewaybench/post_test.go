package gatewaybench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/testing/load"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/wire"
)

// posts is a set of streamable HTTP clients that share one session, each with a persistent connection. It writes requests without
// net/http: its client would cost more than the measured work.
type posts struct {
	host, path string
	session    string
	lines      []*postCaller // by caller
	dial       func() (net.Conn, error)
}

type postCaller struct {
	conn   net.Conn
	in     *bufio.Reader
	made   uint64
	buf    []byte
	body   []byte
	answer bytes.Buffer
	used   time.Time
}

// maxIdle is how long a connection may be idle before it is replaced. Some servers close it after five seconds.
const maxIdle = time.Second

// newPosts begins a session with the server at host, such as 127.0.0.1:8080, and path.
func newPosts(ctx context.Context, host, path string, callers int) (*posts, error) {
	p := &posts{host: host, path: path, lines: make([]*postCaller, callers)}
	p.dial = func() (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", host) }
	for i := range p.lines {
		p.lines[i] = &postCaller{in: bufio.NewReaderSize(nil, 8<<10)}
	}
	header, m, err := p.post(p.lines[0], []byte(load.Initialize))
	if err == nil {
		err = load.Check(m, "")
	}
	if err == nil {
		p.session = header.Get("Mcp-Session-Id")
		_, _, err = p.post(p.lines[0], []byte(load.Initialized))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting a session with %s: %w", host, err), p.Close())
	}
	return p, nil
}

// Call implements [load.Callers].
func (p *posts) Call(caller int, tool string) error {
	l := p.lines[caller]
	l.made++
	l.body = load.AppendCall(l.body[:0], l.made*uint64(len(p.lines))+uint64(caller), tool)
	_, m, err := p.post(l, l.body)
	if err != nil {
		return err
	}
	return load.Check(m, tool)
}

// post sends a message and returns the response.
func (p *posts) post(l *postCaller, body []byte) (http.Header, *wire.Message, error) {
	l.buf = append(l.buf[:0], "POST "+p.path+" HTTP/1.1\r\nHost: "+p.host+"\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\n"...)
	if p.session != "" {
		l.buf = append(l.buf, "Mcp-Session-Id: "+p.session+"\r\nMcp-Protocol-Version: 2025-06-18\r\n"...)
	}
	l.buf = append(strconv.AppendInt(append(l.buf, "Content-Length: "...), int64(len(body)), 10), "\r\n\r\n"...)
	if err := l.connect(p.dial); err != nil {
		return nil, nil, err
	}
	if _, err := l.conn.Write(append(l.buf, body...)); err != nil {
		return nil, nil, err
	}
	res, err := http.ReadResponse(l.in, nil)
	if err != nil {
		return nil, nil, err
	}
	l.answer.Reset()
	_, err = l.answer.ReadFrom(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return nil, nil, err
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return nil, nil, fmt.Errorf("%s: %.500s", res.Status, l.answer.Bytes())
	}
	m, err := l.message(res.Header)
	return res.Header, m, err
}

// connect opens a connection unless there is a recently used one.
func (l *postCaller) connect(dial func() (net.Conn, error)) error {
	now := time.Now()
	stale := now.Sub(l.used) > maxIdle
	l.used = now
	if !stale {
		return nil
	}
	if err := l.close(); err != nil {
		return err
	}
	conn, err := dial()
	if err != nil {
		return err
	}
	l.conn = conn
	l.in.Reset(conn)
	return nil
}

func (l *postCaller) close() error {
	if l.conn == nil {
		return nil
	}
	return l.conn.Close()
}

// message returns the answer in a body: the body itself, or the last event of a stream.
func (l *postCaller) message(header http.Header) (*wire.Message, error) {
	data := l.answer.Bytes()
	if strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") {
		events := framing.NewEventReader(bytes.NewReader(data), wire.Limits{})
		for {
			e, err := events.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
			data = bytes.Clone(e.Data)
		}
	}
	m := wire.Parse(data, wire.Limits{})
	return &m, nil
}

// Close closes all connections.
func (p *posts) Close() error {
	var failed error
	for _, l := range p.lines {
		failed = errors.Join(failed, l.close())
	}
	return failed
}

func TestCallersOverHTTPGetTheirAnswers(t *testing.T) {
	s := httptest.NewServer(load.Server)
	defer s.Close()
	p, err := newPosts(t.Context(), strings.TrimPrefix(s.URL, "http://"), "/mcp", 4)
	must(t, err)
	for caller := range 4 {
		must(t, p.Call(caller, load.Echo))
		must(t, p.Call(caller, load.Fail))
	}
	must(t, p.Close())
	if err := p.Call(0, load.Echo); err == nil {
		t.Error("a call after the end was answered")
	}
}
