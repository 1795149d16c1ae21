package line

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/teach"
	"github.com/candor-mcp/candor/wire"
)

// Serve writes the ready line, then serves the requests that it reads until the input ends. Then, or when ctx ends, it lets the running
// calls finish, writes their responses and returns. A client that closes the output ends it as well. None of the three is an error.
//
// In a program whose output is standard output SIGPIPE must be ignored, or Go ends the process when the client closes the pipe. A
// reader that is blocked when ctx ends stays blocked until in returns.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	c := &conn{s: s, ctx: calls, out: newOutput(out), slots: make(chan struct{}, s.o.Parallel), stop: make(chan struct{})}
	c.out.add(s.ready)
	read := make(chan error, 1)
	go func() { read <- c.read(in) }()
	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
	case <-c.out.failed:
	}
	close(c.stop)
	c.drain(ctx, cancel)
	if closing := c.out.close(); !isClosedPipe(closing) {
		err = errors.Join(err, closing)
	}
	return err
}

func isClosedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// conn is one stream that is served.
type conn struct {
	s     *Server
	ctx   context.Context // of the calls
	out   *output
	slots chan struct{} // one for each call that runs
	stop  chan struct{} // closed when no more calls may start
	left  atomic.Bool   // the client has closed the output
}

// drain waits until no call runs. When ctx has ended it waits no longer than Options.Drain, then cancels what still runs; a cancelled
// call returns soon. It cancels at once if the client has left.
func (c *conn) drain(ctx context.Context, cancel func()) {
	ended, failed := ctx.Done(), c.out.failed
	var late <-chan time.Time
	for taken := 0; taken < cap(c.slots); {
		select {
		case c.slots <- struct{}{}:
			taken++
		case <-ended:
			ended, late = nil, time.After(c.s.o.Drain)
		case <-late:
			cancel()
		case <-failed:
			failed = nil
			c.left.Store(true)
			cancel()
		}
	}
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// read starts a call for each line. It returns nil at the end of the stream or when the server stops.
func (c *conn) read(in io.Reader) error {
	lines := wire.NewLineReader(in, wire.Limits{MaxBytes: c.s.o.MaxLine})
	for first := true; ; first = false {
		line, err := lines.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
		if first { // some shells put a byte order mark in front of everything that they pipe
			line.Bytes = bytes.TrimPrefix(line.Bytes, byteOrderMark)
		}
		if !c.accept(line) {
			return nil
		}
	}
}

// accept starts what a line asks for as soon as there is a free slot. It reports false if the server stops.
func (c *conn) accept(line wire.Line) bool {
	if line.Flaw == wire.FlawTooLarge {
		return c.start(func() { c.send(c.tooLong(line.Size)) })
	}
	text := bytes.Clone(line.Bytes)
	m := wire.Parse(text, c.limits())
	if m.Flaws().Has(wire.FlawBatch) && !unreadable(&m) {
		return c.startBatch(&m)
	}
	return c.start(func() { c.send(c.answer(&m)) })
}

func (c *conn) limits() wire.Limits { return wire.Limits{MaxBytes: c.s.o.MaxLine} }

// start runs a function on a goroutine of its own when there is a free slot.
func (c *conn) start(run func()) bool {
	select {
	case c.slots <- struct{}{}:
	case <-c.stop:
		return false
	}
	go func() {
		defer func() { <-c.slots }()
		run()
	}()
	return true
}

// send writes a response, if there is one.
func (c *conn) send(response []byte) {
	if response != nil {
		c.out.add(append(response, '\n'))
	}
}

// answer serves one message and returns the response, nil if there must be none.
func (c *conn) answer(m *wire.Message) []byte {
	flaws := m.Flaws().Without(wire.FlawNullID) // JSON-RPC allows a null id in requests
	switch shape := m.Shape(); {
	case shape == wire.KindResult || shape == wire.KindError:
		return c.fail(request{silent: true}, contract.VerdictStray, candor.New(candor.CodeStrayAnswer, "", byServer))
	case !flaws.Empty():
		e := teach.Flaw(worst(m, flaws), candor.PartyServer)
		return c.fail(request{id: teach.AnswerID(m, e.Code())}, contract.VerdictMalformed, e)
	}
	r := request{id: m.ID(), method: string(m.Method()), params: m.Params().Raw(), silent: m.Shape() == wire.KindNotification}
	result, e := c.s.Call(c.ctx, r.method, r.params)
	if e != nil {
		return c.fail(r, contract.VerdictProtocol, e)
	}
	if r.silent {
		return nil
	}
	return appendResult(make([]byte, 0, len(result)+len(r.id)+len(`{"jsonrpc":"2.0","id":,"result":}`)+1), r.id, result)
}

func appendResult(dst []byte, id wire.ID, result []byte) []byte {
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	dst = append(append(dst, `,"result":`...), result...)
	return append(dst, '}')
}

// worst returns the flaw to report, which is not that the id is null.
func worst(m *wire.Message, flaws wire.Flaws) wire.Malformation {
	if found := m.Malformation(); found.Flaw != wire.FlawNullID {
		return found
	}
	for flaw := range flaws.All() {
		return wire.Malformation{Flaw: flaw}
	}
	return wire.Malformation{}
}

// unreadable reports flaws that leave nothing of a batch to be answered on its own.
func unreadable(m *wire.Message) bool {
	return teach.Flaw(m.Malformation(), candor.PartyServer).Code() == candor.CodeParseError || m.Flaws().Has(wire.FlawTooDeep)
}
