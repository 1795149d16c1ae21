package line

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/oserror"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// Serve writes the ready line, then serves requests until the input ends. Then, or when ctx ends, it lets the running
// calls finish, writes their responses and returns. It also ends when the client closes the output. None of the three
// is an error.
//
// In a program whose output is standard output SIGPIPE must be ignored, or Go ends the process when the client closes
// the pipe. A goroutine that is blocked in a read when ctx ends stays until in returns.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	starting, stop := context.WithCancel(calls)
	defer stop()
	c := &conn{s: s, ctx: calls, starting: starting, out: newOutput(out), slots: make(chan struct{}, s.o.Parallel)}
	ended := make(chan error, 1)
	go func() {
		c.out.write(s.ready)
		ended <- c.read(framing.NewLineReader(in, wire.Limits{MaxBytes: s.o.MaxLine}))
	}()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
	case <-c.out.failed:
	}
	stop()
	if !c.drain(ctx, cancel) {
		return errors.Join(err, errStuck)
	}
	if failed := c.out.ended(); !isClosedPipe(failed) {
		err = errors.Join(err, failed)
	}
	return err
}

// conn is one stream that is served. One goroutine reads lines and starts a goroutine for each call.
type conn struct {
	s        *Server
	ctx      context.Context // of the calls
	starting context.Context // ends when no more calls may start
	out      *output
	slots    chan struct{} // one element for each running call
	left     atomic.Bool   // the client has closed the output
}

// byteOrderMark is prepended by some shells to piped text.
var byteOrderMark = []byte("\xef\xbb\xbf")

// read starts a call for each line until the input ends or no more calls may start.
func (c *conn) read(lines *framing.LineReader) error {
	for first := true; ; first = false {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if first {
			line.Bytes = bytes.TrimPrefix(line.Bytes, byteOrderMark)
		}
		if !c.serve(line) {
			return nil
		}
	}
}

// serve starts the call of a line. It reports false if no more calls may start.
func (c *conn) serve(line framing.Line) bool {
	if line.Flaw == wireflaw.TooLarge {
		return c.start(c.tooLong(line.Size), c.write)
	}
	m := wire.Parse(bytes.Clone(line.Bytes), c.limits())
	if m.Flaws().Has(wireflaw.Batch) && !unreadable(&m) {
		return c.startBatch(&m)
	}
	return c.start(c.inspect(&m), c.write)
}

// start answers a request when another call may run: on a new goroutine, unless that takes longer than the answer. It reports false if no
// more calls may start.
func (c *conn) start(next request, done func([]byte)) bool {
	select {
	case c.slots <- struct{}{}:
	case <-c.starting.Done():
		return false
	}
	c.observe(&next)
	if next.err == nil {
		next.refused = c.s.refuse(next.method, next.params)
	}
	answer := func() {
		done(c.answer(next))
		<-c.slots
	}
	if c.quick(&next) {
		answer()
	} else {
		go answer()
	}
	return true
}

// quick reports whether a request is answered without waiting for anything: a method of sys, or a failure that is not recorded.
func (c *conn) quick(r *request) bool {
	if r.err != nil || r.refused != nil {
		return c.s.o.Recorder == nil
	}
	return r.method.exempt
}

// write writes a response, unless it is empty.
func (c *conn) write(response []byte) {
	if len(response) > 0 {
		c.out.write(append(response, '\n'))
	}
}

// answer serves a request and returns the response, nil for a notification.
func (c *conn) answer(next request) []byte {
	if next.err != nil {
		return c.fail(&next, next.verdict, next.err)
	}
	result, e := c.s.call(c.ctx, next.method, next.params, next.refused)
	if e != nil {
		return c.fail(&next, contract.VerdictProtocol, e)
	}
	if next.silent {
		return nil
	}
	next.ended(nil)
	response := make([]byte, 0, len(result)+len(next.id)+64)
	response = append(append(response, `{"jsonrpc":"2.0","id":`...), next.id...)
	response = append(append(response, `,"result":`...), result...)
	return append(response, '}')
}

// drain waits until no call runs. When ctx has ended it waits up to Options.Drain, then cancels the running calls; it
// cancels at once if the client has closed the output. It reports false if a call does not return even then, because
// the client does not read.
func (c *conn) drain(ctx context.Context, cancel func()) bool {
	idle := make(chan struct{})
	go func() {
		for range cap(c.slots) {
			c.slots <- struct{}{}
		}
		close(idle)
	}()
	ended, failed := ctx.Done(), c.out.failed
	var late, tooLate <-chan time.Time
	for {
		select {
		case <-idle:
			return true
		case <-ended:
			ended, late = nil, time.After(c.s.o.Drain)
		case <-late:
			cancel()
			tooLate = time.After(5 * lateness)
		case <-failed:
			failed, tooLate = nil, time.After(5*lateness)
			c.left.Store(true)
			cancel()
		case <-tooLate:
			return false
		}
	}
}

func isClosedPipe(err error) bool {
	return oserror.IsClosedPipe(err) || errors.Is(err, io.ErrClosedPipe)
}
