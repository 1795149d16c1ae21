package line

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/oserror"
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
	c := newConn(calls, s, framing.NewLineReader(in, wire.Limits{MaxBytes: s.o.MaxLine}), newOutput(out))
	c.out.add(s.ready)
	go c.reader.loop()
	go c.watch(calls.Done())
	var err error
	select {
	case err = <-c.ended:
	case <-ctx.Done():
	case <-c.out.failed:
	}
	c.stop()
	if !c.drain(ctx, cancel) {
		_ = c.out.abort() // close returns it again
	}
	if closing := c.closeOutput(ctx); !isClosedPipe(closing) {
		err = errors.Join(err, closing)
	}
	return err
}

// closeOutput writes the queue and returns the error that ended the output, if any. When ctx has ended, a client that
// does not read gets as much time as a call. A blocked write then keeps its goroutine until the output is closed.
func (c *conn) closeOutput(ctx context.Context) error {
	closed := make(chan error, 1)
	go func() { closed <- c.out.close() }()
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-closed:
		return err
	case <-time.After(c.s.o.Drain + 5*lateness):
		return c.out.abort()
	}
}

func isClosedPipe(err error) bool {
	return oserror.IsClosedPipe(err) || errors.Is(err, io.ErrClosedPipe)
}

// drain waits until no call runs. When ctx has ended it waits up to Options.Drain, then cancels the running calls; it
// cancels at once if the client has closed the output. It reports false if a call does not return even then, because
// the client does not read.
func (c *conn) drain(ctx context.Context, cancel func()) bool {
	ended, failed := ctx.Done(), c.out.failed
	var late, tooLate <-chan time.Time
	for {
		select {
		case <-c.idle:
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
