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
	"github.com/candor-mcp/candor/internal/splice"
	"github.com/candor-mcp/candor/wire"
)

// How long calls that are open may go on: after the client has said all it has to say, and after the server was told to stop
// and they were called off.
const (
	drainTime = 30 * time.Second
	stopTime  = 5 * time.Second
)

const keptLine = 64 << 10 // capacity that is kept for the next line

// streamConn is one connection over two streams of lines.
type streamConn struct {
	b      *Boundary
	ctx    context.Context //nolint:containedctx // of the whole connection, for what is recorded of lines that are no call
	limits wire.Limits
	calls  *inflight
	gate   *callGate
	room   room
	life   context.Context //nolint:containedctx // ends with the connection
	die    context.CancelFunc

	starting sync.Mutex // held while a call leaves the queue
	queue    callQueue

	asked  atomic.Int64 // the highest id of a request of the server to the client
	hungUp atomic.Bool  // the client says nothing more, so nothing will be answered

	incoming chan jsonrpc.Message // to Read
	over     chan struct{}        // closed when Read is to report err
	finish   sync.Once
	err      error // set before over is closed

	closing sync.Once
	closed  chan struct{}
	r       io.ReadCloser
	w       io.WriteCloser

	writing sync.Mutex
	out     *framing.LineWriter // under writing
	line    []byte              // under writing: the line that is being put together
	broken  error               // under writing: a write has failed, and half a line may be out
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
	c.room = newRoom(c.maxBytes())
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

// pump reads lines until there are none. It is a goroutine of its own because a read of standard input cannot be interrupted.
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

// deliver hands a message to Read. It reports false if nobody reads any more.
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

// drain holds back the end of the input until the calls that are open have been answered: once the SDK has seen the end, it
// cancels them and sends nothing more. It calls off what would never end by itself, or everything.
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

// await waits for the answers, and a moment for the calls that must not be answered, so that they are settled too.
func (c *streamConn) await(limit time.Duration) {
	patience := time.NewTimer(limit)
	defer patience.Stop()
	for hurried := false; ; {
		owed, open := c.calls.left()
		if open == 0 {
			return
		}
		if owed == 0 && !hurried {
			hurried = true
			patience.Reset(leaveTime)
		}
		select {
		case <-c.calls.fewer:
		case <-patience.C:
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
		c.calls.each(streamCalls.remove)
	})
}

// hangUp ends the requests of the server that the client will not answer any more, or their handlers would wait for ever. The
// SDK numbers them from 1 and ignores an answer that it does not wait for.
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

// stopWith ends the session in good order when the server is told to stop: open calls are called off and answered.
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
	return fmt.Errorf("a message of the type %T cannot be written", m)
}

// answer writes the answer to a call, with the id as the client wrote it.
func (c *streamConn) answer(ctx context.Context, r *jsonrpc.Response) error {
	o, cancelled := c.calls.close(r.ID)
	if o == nil {
		return nil // it was not asked through here
	}
	streamCalls.remove(o)
	defer o.ticket.end()
	defer o.place.shrink(0)
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

// suspect reads a result for a failure that leaves as a success.
func (c *streamConn) suspect(ctx context.Context, o *openCall, result []byte) {
	request := message(`{"jsonrpc":"2.0","id":0,"method":"tools/call","params":`, o.params)
	asked := wire.Parse(request, streamLimits(0))
	c.b.suspect(ctx, &asked, message(`{"jsonrpc":"2.0","id":0,"result":`, result), o.exchange())
}

// message returns a message that begins with head and ends with one value.
func message(head string, value []byte) []byte {
	if len(value) == 0 {
		value = []byte("{}")
	}
	return append(append([]byte(head), value...), '}')
}

// sendAnswer writes the answer to a call, which is the parts in a row.
func (c *streamConn) sendAnswer(o *openCall, parts ...[]byte) error {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	o.ticket.answering(size)
	defer o.ticket.answered(size)
	return c.send(parts...)
}

// withhold settles a call that was called off: it must not be answered. The end of a subscription is what was asked for.
func (c *streamConn) withhold(ctx context.Context, o *openCall, r *jsonrpc.Response) {
	done := o.recorded.any() && (r.Error == nil || o.recorded.is(rpcErrorOf(r.Error).key()))
	switch {
	case done && c.b.o.Meter != nil:
		calmMeter{c.b}.CountSuppressed()
	case done, o.endless():
	default:
		e := candor.New(candor.CodeCancelled, "", candor.WithOrigin(candor.PartyClient, false))
		c.b.suppress(ctx, e, contract.VerdictLost, o.exchange())
	}
}

// ask writes a request or a notification of the server. Once the client is silent its requests are refused at once.
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

// unhide puts the client's own id where the SDK has written the one that stood for it: into the _meta of what belongs to
// a subscription.
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

// refuse settles a failure that was found here and answers it. Without an id the member is left out.
func (c *streamConn) refuse(e *candor.Error, id wire.ID, x exchange, v contract.Verdict) {
	if id.IsNull() {
		id = nil
	}
	if err := c.send(c.b.refuse(c.ctx, e, v, x).append(nil, id)); err != nil {
		c.end(err)
	}
}

// send writes one line, which is the parts in a row. They are put together only when it is their turn, because many may wait. After a
// failure nothing is written any more, because half a line may be out.
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
			// io.EOF tells the SDK that this is how sessions end.
			c.broken = fmt.Errorf("writing to the client: %w: %w", err, io.EOF)
		}
	}
	return c.broken
}

// Close implements [mcp.Connection]. It does not wait for a write that hangs.
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

// SessionID implements [mcp.Connection]. A stream is one session and has no name for it.
func (c *streamConn) SessionID() string { return "" }
