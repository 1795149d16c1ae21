package boundary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/httpguard"
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// drainTime and stopTime limit how long open calls may continue: after the end of the client's input, and after the server was
// stopped and they were cancelled.
const (
	drainTime = 30 * time.Second
	stopTime  = 5 * time.Second
)

const keptLine = 64 << 10 // maximum capacity that is kept for the next line

// streamConn is one connection over two streams of lines.
type streamConn struct {
	b      *Boundary
	ctx    context.Context //nolint:containedctx // of the whole connection, for recording lines that are not calls
	limits wire.Limits
	calls  *inflight
	gate   *callGate
	budget httpguard.Budget
	life   context.Context //nolint:containedctx // done when the connection ends
	die    context.CancelFunc

	starting sync.Mutex // held while a call is passed on from the queue
	queue    callQueue

	asked  atomic.Int64 // highest id of a request of the server to the client
	hungUp atomic.Bool  // the input has ended, so the client will send no answers

	incoming chan jsonrpc.Message // messages for Read
	over     chan struct{}        // closed when Read must return err
	finish   sync.Once
	err      error // set before over is closed

	closing sync.Once
	closed  chan struct{}
	r       io.ReadCloser
	w       io.WriteCloser

	writing sync.Mutex
	out     *framing.LineWriter // under writing
	line    []byte              // under writing: the line that is being assembled
	broken  error               // under writing: a write has failed, and a part of a line may have been sent
}

func (t *streamTransport) open(ctx context.Context) *streamConn {
	c := &streamConn{
		b: t.b, ctx: ctx, limits: streamLimits(t.b.o.MaxMessage), calls: newInflight(), gate: newCallGate(t.b.o.MaxCalls, &t.b.results),
		incoming: make(chan jsonrpc.Message), over: t.over, closed: make(chan struct{}),
		r: t.r, w: t.w, out: framing.NewLineWriter(t.w),
	}
	if c.over == nil {
		c.over = make(chan struct{})
	}
	c.budget = newBudget(c.maxBytes(), 0)
	c.life, c.die = context.WithCancel(ctx)
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
	case <-c.over:
	case <-c.closed:
	}
	return false
}

// Read implements [mcp.Connection].
func (c *streamConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.incoming:
		return m, nil
	case <-c.over:
		return nil, c.err
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// drain delays the end of the input until the open calls have been answered: once the SDK has seen the end, it cancels them and sends
// nothing more. It cancels subscriptions, or every call if all is set.
func (c *streamConn) drain(all bool, cause error) {
	c.hangUp()
	limit := drainTime
	if all {
		limit = stopTime
	}
	for _, o := range c.calls.shutDown() {
		if all && c.refuseQueued(o, candor.New(candor.CodeUnavailable, "The server is shutting down.", candor.WithOrigin(candor.PartyServer, false))) {
			continue
		}
		if m := cancellation(o, nil); m != nil && (all || o.endless()) && !c.deliver(m) {
			break
		}
	}
	c.await(limit)
	c.abandonCalls()
	c.end(cause)
}

// await waits until all calls are answered, but at most limit. When only cancelled calls remain, it waits at most abandonTimeout for them,
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
			timer.Reset(abandonTimeout)
		}
		select {
		case <-c.calls.fewer:
		case <-timer.C:
			return
		case <-c.over:
			return
		case <-c.closed:
			return
		}
	}
}

func (c *streamConn) end(cause error) {
	c.finish.Do(func() {
		if cause == nil || errors.Is(cause, fs.ErrClosed) || errors.Is(cause, io.ErrClosedPipe) {
			cause = io.EOF
		}
		c.err = cause
		close(c.over)
		c.die()
		c.calls.each(func(o *openCall) { streamCalls.remove(&o.extra) })
	})
}

// hangUp fails the requests of the server that the client will no longer answer, because their handlers would wait forever. The SDK
// numbers them from 1 and ignores an answer that it does not wait for.
func (c *streamConn) hangUp() {
	c.hungUp.Store(true)
	last := c.asked.Load()
	for n := max(1, last-maxInFlight); n <= last; n++ {
		if !c.deliver(goneAnswer(n)) {
			return
		}
	}
}

func goneAnswer(n int64) *jsonrpc.Response {
	id, _ := jsonrpc.MakeID(float64(n))
	return &jsonrpc.Response{ID: id, Error: fmt.Errorf("%w: the client has gone", mcp.ErrConnectionClosed)}
}

// stopWith ends the session gracefully when stop is closed: open calls are cancelled and answered.
func (c *streamConn) stopWith(stop <-chan struct{}) {
	select {
	case <-stop:
	case <-c.over:
		return
	case <-c.closed:
		return
	}
	c.drain(true, nil)
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
	streamCalls.remove(&o.extra)
	defer o.ticket.end()
	defer c.budget.Release(&o.reserved)
	switch {
	case cancelled:
		c.withhold(ctx, o, r)
		return nil
	case r.Error != nil:
		shown := rpcErrorOf(r.Error)
		if !o.recorded.is(shown.key()) {
			shown = c.b.seal(ctx, shown, o.exchange())
		}
		return c.sendAnswer(o, shown.append(nil, o.id))
	}
	result := unhide(r.Result)
	if len(result) == 0 {
		result = []byte("null")
	}
	if !o.recorded.any() && c.b.suspects(o.method, len(result)) {
		c.suspect(ctx, o, result)
	}
	return c.sendAnswer(o, []byte(`{"jsonrpc":"2.0","id":`), o.id, []byte(`,"result":`), result, []byte{'}'})
}

// suspect checks a result for a failure that is reported as a success.
func (c *streamConn) suspect(ctx context.Context, o *openCall, result []byte) {
	request := message(`{"jsonrpc":"2.0","id":0,"method":"tools/call","params":`, o.params)
	asked := wire.Parse(request, streamLimits(0))
	c.b.suspect(ctx, &asked, message(`{"jsonrpc":"2.0","id":0,"result":`, result), o.exchange())
}

// message returns the concatenation of head, value and a closing brace.
func message(head string, value []byte) []byte {
	if len(value) == 0 {
		value = []byte("{}")
	}
	return append(append([]byte(head), value...), '}')
}

// sendAnswer writes the answer to a call, which is the concatenation of parts.
func (c *streamConn) sendAnswer(o *openCall, parts ...[]byte) error {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	o.ticket.answering(size)
	defer o.ticket.answered(size)
	return c.send(parts...)
}

// withhold records and counts a cancelled call, which must not be answered. A cancelled subscription is not a failure.
func (c *streamConn) withhold(ctx context.Context, o *openCall, r *jsonrpc.Response) {
	done := o.recorded.any() && (r.Error == nil || o.recorded.is(rpcErrorOf(r.Error).key()))
	switch {
	case done:
		recoveringMeter{c.b}.CountSuppressed()
	case o.endless():
	default:
		e := candor.New(candor.CodeCancelled, "", candor.WithOrigin(candor.PartyClient, false))
		c.b.suppress(ctx, e, contract.VerdictLost, o.exchange())
	}
}

// ask writes a request or a notification of the server. After the end of the input, requests fail at once.
func (c *streamConn) ask(r *jsonrpc.Request) error {
	if n, ok := r.ID.Raw().(int64); ok {
		for old := c.asked.Load(); n > old && !c.asked.CompareAndSwap(old, n); old = c.asked.Load() {
		}
		if c.hungUp.Load() {
			go c.deliver(goneAnswer(n))
			return nil
		}
	}
	shown := *r
	shown.Params = unhide(r.Params)
	line, err := jsonrpc.EncodeMessage(&shown)
	if err != nil {
		return err
	}
	return c.send(line)
}

var hiddenMark = []byte(`"\u0000`)

// unhide restores the client's id where the SDK has written its replacement: in the _meta of messages that belong to a subscription.
func unhide(doc []byte) []byte {
	if !bytes.Contains(doc, hiddenMark) {
		return doc
	}
	v, err := wire.ParseValue(doc, streamLimits(0))
	if err != nil {
		return doc
	}
	text, _ := v.Path("_meta", mcp.MetaKeySubscriptionID).Str()
	key, was := strings.CutPrefix(text, hidden)
	if !was {
		return doc
	}
	out, err := splice.SetMember(nil, doc, []string{"_meta", mcp.MetaKeySubscriptionID}, spelled(key))
	if err != nil {
		return doc
	}
	return out
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
	select {
	case <-c.closed:
		return fmt.Errorf("writing to a closed connection: %w", io.EOF)
	default:
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
		close(c.closed)
		c.die()
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
