package boundary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/httpguard"
	"github.com/candor-mcp/candor/wire"
)

// drainTime limits how long open calls may continue after the end of the client's input.
const drainTime = 30 * time.Second

const keptLine = 64 << 10 // maximum capacity that is kept for the next line

// streamConn is one connection over two streams of lines.
type streamConn struct {
	b      *Boundary
	ctx    context.Context //nolint:containedctx // of the whole connection, for recording lines that are not calls
	limits wire.Limits
	calls  *inflight
	limit  *callLimit
	budget httpguard.Budget
	life   context.Context //nolint:containedctx // ends with the connection; its cause is the error for Read
	die    context.CancelCauseFunc

	asking atomic.Int64 // requests of the server to the client that were not answered

	incoming chan jsonrpc.Message // messages for Read

	closing sync.Once
	closed  atomic.Bool
	r       io.ReadCloser
	w       io.WriteCloser

	writing sync.Mutex
	out     *framing.LineWriter // under writing
	line    []byte              // under writing: the line that is being assembled
	broken  error               // under writing: a write has failed, and a part of a line may have been sent
}

func (t *streamTransport) open(ctx context.Context) *streamConn {
	c := &streamConn{
		b: t.b, ctx: ctx, limits: streamLimits(t.b.o.MaxMessage), calls: newInflight(), limit: newCallLimit(t.b.o.MaxCalls),
		incoming: make(chan jsonrpc.Message), r: t.r, w: t.w, out: framing.NewLineWriter(t.w),
	}
	c.budget = newBudget(c.maxBytes(), 0)
	c.life, c.die = context.WithCancelCause(ctx)
	if t.over != nil {
		context.AfterFunc(c.life, func() { close(t.over) })
	}
	go c.pump()
	if t.stop != nil {
		go c.stopWith(t.stop)
	}
	return c
}

func (c *streamConn) maxBytes() int {
	if c.limits.MaxBytes > 0 {
		return c.limits.MaxBytes
	}
	return wire.DefaultMaxBytes
}

// pump reads lines until the end of the input. It runs on a separate goroutine because a read of standard input cannot be
// interrupted.
func (c *streamConn) pump() {
	lines := framing.NewLineReader(c.r, c.limits)
	for {
		line, err := lines.Next()
		if err != nil {
			c.drain(false, err)
			return
		}
		if m := c.take(line); m != nil && !c.deliver(m) {
			return
		}
	}
}

// deliver passes a message to Read. It returns false if the connection has ended.
func (c *streamConn) deliver(m jsonrpc.Message) bool {
	select {
	case c.incoming <- m:
		return true
	case <-c.life.Done():
		return false
	}
}

// Read implements [mcp.Connection].
func (c *streamConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.incoming:
		return m, nil
	case <-c.life.Done():
		return nil, context.Cause(c.life)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// drain delays the end of the input until the open calls have been answered: once the SDK has seen the end, it cancels them and sends
// nothing more. If package serve runs the server, it cancels the calls that are left after drainTime, or at once if now is set.
func (c *streamConn) drain(now bool, cause error) {
	c.cancelWaiting()
	if !now {
		c.await(drainTime)
	}
	if c.b.stop != nil {
		c.b.stop()
		c.await(stopGrace + writeGrace)
	}
	c.end(cause)
}

// cancelWaiting refuses new calls and cancels those that cannot end: subscriptions, and all calls if one may be waiting for an answer of
// the client.
func (c *streamConn) cancelWaiting() {
	for _, o := range c.calls.shutDown() {
		if m := cancellation(o, nil); m != nil && (o.endless() || c.asking.Load() > 0) && !c.deliver(m) {
			return
		}
	}
}

// await waits until all calls are answered, but at most limit. When only cancelled calls remain, it waits at most writeGrace for them,
// so that they are recorded too.
func (c *streamConn) await(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for shortened := false; ; {
		unanswered, open := c.calls.left()
		if open == 0 {
			return
		}
		if unanswered == 0 && !shortened {
			shortened = true
			timer.Reset(writeGrace)
		}
		select {
		case <-c.calls.fewer:
		case <-timer.C:
			return
		case <-c.life.Done():
			return
		}
	}
}

func (c *streamConn) end(cause error) {
	if cause == nil || errors.Is(cause, fs.ErrClosed) || errors.Is(cause, io.ErrClosedPipe) {
		cause = io.EOF
	}
	c.die(cause)
	for _, o := range c.calls.shutDown() {
		passedCalls.remove(&o.extra)
	}
}

// stopWith ends the session gracefully when stop is closed: open calls are cancelled and answered.
func (c *streamConn) stopWith(stop <-chan struct{}) {
	select {
	case <-stop:
		c.drain(true, nil)
	case <-c.life.Done():
	}
}

// Write implements [mcp.Connection].
func (c *streamConn) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Response); ok {
		return c.answer(ctx, r)
	}
	if r, ok := m.(*jsonrpc.Request); ok {
		return c.ask(r)
	}
	return fmt.Errorf("message of type %T: cannot be written", m)
}

// answer writes the answer to a call, with the id as the client wrote it.
func (c *streamConn) answer(ctx context.Context, r *jsonrpc.Response) error {
	o, cancelled := c.calls.close(r.ID)
	if o == nil {
		return nil // not a call of this connection
	}
	passedCalls.remove(&o.extra)
	defer c.calls.sent()
	defer o.ticket.end()
	defer c.budget.Release(&o.reserved)
	switch {
	case cancelled:
		c.withhold(ctx, o, r)
		return nil
	case r.Error != nil:
		shown := rpcErrorOf(r.Error)
		if !o.is(shown.key()) {
			shown = c.b.seal(ctx, shown, o.exchange())
		}
		return c.send(shown.append(nil, o.id))
	}
	result := showIDs(r.Result)
	if len(result) == 0 {
		result = []byte("null")
	}
	return c.send([]byte(`{"jsonrpc":"2.0","id":`), o.id, []byte(`,"result":`), result, []byte{'}'})
}

// withhold records and counts a cancelled call, which must not be answered. A cancelled subscription is not a failure.
func (c *streamConn) withhold(ctx context.Context, o *openCall, r *jsonrpc.Response) {
	done := o.any() && (r.Error == nil || o.is(rpcErrorOf(r.Error).key()))
	switch {
	case done:
		if c.b.o.Meter != nil {
			c.b.o.Meter.CountSuppressed()
		}
	case o.endless():
	default:
		e := candor.New(candor.CodeCancelled, "", candor.WithOrigin(candor.PartyClient, false))
		c.b.suppress(ctx, e, contract.VerdictLost, o.exchange())
	}
}

// ask writes a request or a notification of the server. Messages of a subscription have its id, which may be hidden.
func (c *streamConn) ask(r *jsonrpc.Request) error {
	if r.IsCall() {
		c.asking.Add(1)
		if c.calls.stopped() {
			go c.cancelWaiting()
		}
	}
	shown := *r
	shown.Params = showIDs(r.Params)
	line, err := jsonrpc.EncodeMessage(&shown)
	if err != nil {
		return err
	}
	return c.send(line)
}

// refuse records a failure that the connection has detected, and answers it. Without an id the member is omitted.
func (c *streamConn) refuse(e *candor.Error, id wire.ID, x exchange, v contract.Verdict) {
	if id.IsNull() {
		id = nil
	}
	if err := c.send(c.b.refuse(c.ctx, e, v, x).append(nil, id)); err != nil {
		c.end(err)
	}
}

// send writes one line, which is the concatenation of parts. They are concatenated under the lock, because many goroutines may wait.
// After an error nothing more is written, because a part of a line may have been sent.
func (c *streamConn) send(parts ...[]byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.closed.Load() {
		return fmt.Errorf("writing to a closed connection: %w", io.EOF)
	}
	if c.broken == nil {
		c.line = c.line[:0]
		for _, part := range parts {
			c.line = append(c.line, part...)
		}
		err := c.out.WriteLine(c.line)
		if cap(c.line) > keptLine {
			c.line = nil
		}
		if err != nil {
			// The SDK treats io.EOF as the normal end of a session.
			c.broken = fmt.Errorf("writing to the client: %w: %w", err, io.EOF)
		}
	}
	return c.broken
}

// Close implements [mcp.Connection]. It does not wait for a blocked write.
func (c *streamConn) Close() error {
	var err error
	c.closing.Do(func() {
		c.closed.Store(true)
		c.die(io.EOF)
		err = errors.Join(ignoreClosed(c.r.Close()), ignoreClosed(c.w.Close()))
	})
	return err
}

func ignoreClosed(err error) error {
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}

// SessionID implements [mcp.Connection]. A stream is one session without an id.
func (c *streamConn) SessionID() string { return "" }
