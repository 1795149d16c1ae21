package line

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/framing"
	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// runner is a goroutine that serves lines as long as it is the reader of its conn.
type runner struct {
	c       *conn
	line    []byte
	buffer  []byte       // for responses
	state   atomic.Int32 // of the call
	reading bool         // it was the reader when its last call ended

	// The fields below are guarded by the lock of conn.
	busy    bool   // with a call, or with writing
	turn    uint64 // number of times it was busy
	request request
	ctx     *deadlineContext // of the call; nil if no method runs
}

// The states of a call.
const (
	callRuns int32 = iota
	callAnswered
	callAbandoned // it was answered at its deadline and still runs
)

// loop serves lines until the runner is no longer the reader.
func (r *runner) loop() {
	returned := false
	defer func() {
		if !returned && r.reading { // a method has ended this goroutine
			r.c.mu.Lock()
			defer r.c.mu.Unlock()
			r.c.reader = &runner{c: r.c}
			go r.c.reader.loop()
		}
	}()
	for r.step() {
	}
	returned = true
}

// step serves one line. It reports false if the runner must end.
func (r *runner) step() bool {
	line, ok := r.c.lines.NextBuffered()
	if !ok {
		if !r.flush() {
			return false
		}
		var err error
		if line, err = r.c.lines.Next(); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			r.c.ended <- err
			return false
		}
	}
	if !r.c.begun {
		r.c.begun = true
		line.Bytes = bytes.TrimPrefix(line.Bytes, byteOrderMark)
	}
	return r.serve(line)
}

// byteOrderMark is prepended by some shells to piped text.
var byteOrderMark = []byte("\xef\xbb\xbf")

// flush writes the responses before the runner waits for the next line. The watchdog treats it like a call, because it
// may take as long. It reports false if the runner must end. After the stop it writes nothing, because closing the
// output does.
func (r *runner) flush() bool {
	r.c.mu.Lock()
	if r.c.stopped {
		r.c.mu.Unlock()
		return false
	}
	r.c.running++
	r.occupy(request{}, nil)
	r.c.mu.Unlock()
	r.c.out.flush()
	return r.end()
}

// serve handles one line.
func (r *runner) serve(line framing.Line) bool {
	if line.Flaw == wireflaw.TooLarge {
		return r.run(r.c.tooLong(line.Size))
	}
	r.line = append(r.line[:0], line.Bytes...)
	m := wire.Parse(r.line, r.c.limits())
	if m.Flaws().Has(wireflaw.Batch) && !unreadable(&m) {
		batch := m.Clone()
		return r.c.startBatch(&batch)
	}
	next := r.c.inspect(&m)
	if !next.stats(r.c.s).slow.Load() {
		return r.run(next)
	}
	own := m.Clone()
	next = r.c.inspect(&own)
	return r.c.start(func() []byte { return r.c.answerSlow(next) })
}

// run answers a request on this goroutine. It reports false if the runner must end.
func (r *runner) run(next request) bool {
	r.c.observe(&next)
	var ctx *deadlineContext
	if next.err == nil {
		ctx = &deadlineContext{Context: r.c.ctx, deadline: time.Now().Add(r.c.s.o.Timeout)}
	}
	if !r.begin(next, ctx) {
		return false
	}
	if next.err != nil {
		r.finish(outcome{err: next.err})
		return r.reading
	}
	next.method.calls.Add(1)
	if e := r.c.s.admit(next.method, next.params); e != nil {
		r.finish(outcome{err: e})
		return r.reading
	}
	// The method may keep its parameters, and the next line overwrites this one.
	r.c.s.run(ctx, next.method, bytes.Clone(next.params), r.finish)
	return r.reading
}

// begin waits until another call may run, and counts it.
func (r *runner) begin(next request, ctx *deadlineContext) bool {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	if !r.c.acquire() {
		return false
	}
	r.occupy(next, ctx)
	return true
}

// occupy records the work of the runner for the watchdog. The caller holds the lock.
func (r *runner) occupy(next request, ctx *deadlineContext) {
	r.busy, r.request, r.ctx = true, next, ctx
	r.turn++
	r.state.Store(callRuns)
	if r.c.resting {
		r.c.resting = false
		r.c.wake <- struct{}{}
	}
}

// end records that the runner is idle. It reports whether the runner is still the reader.
func (r *runner) end() bool {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	r.busy = false
	r.c.release()
	return r.c.reader == r
}

// finish answers the call, unless it was abandoned, and ends it.
func (r *runner) finish(o outcome) {
	if !r.state.CompareAndSwap(callRuns, callAnswered) {
		r.c.s.abandoned.Add(-1)
		r.reading = false
		return
	}
	switch {
	case o.err != nil:
		r.fail(o)
	case !r.request.silent:
		r.request.ended(nil)
		r.buffer = appendResult(r.buffer[:0], r.request.id, o.result)
		r.c.add(r.buffer)
	}
	if r.ctx != nil {
		r.ctx.end()
	}
	if cap(r.buffer) > keepBuffer {
		r.buffer = nil
	}
	if r.reading = r.end(); !r.reading {
		r.c.out.flush()
	}
}

// fail answers a failed call. Recording takes long, so the reader does not wait for it.
func (r *runner) fail(o outcome) {
	e, verdict := r.request.err, r.request.verdict
	if e == nil {
		e, verdict = r.c.s.failure(r.ctx, o), contract.VerdictProtocol
		r.request.method.errors.Add(1)
	}
	if r.c.s.o.Recorder == nil {
		r.buffer = r.c.fail(r.buffer[:0], &r.request, verdict, e)
		r.c.add(r.buffer)
		return
	}
	own := r.request.clone()
	r.c.mu.Lock()
	r.c.running++ // until it is recorded
	r.c.mu.Unlock()
	go r.c.finish(func() []byte { return r.c.fail(nil, &own, verdict, e) })
}

func appendResult(dst []byte, id wire.ID, result []byte) []byte {
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	dst = append(append(dst, `,"result":`...), result...)
	return append(dst, '}')
}

// answerSlow answers a request on its own goroutine.
func (c *conn) answerSlow(next request) []byte {
	begin := time.Now()
	response := c.answer(next)
	if time.Since(begin) < slowCall {
		next.stats(c.s).slow.Store(false)
	}
	return response
}

// answer serves a request and returns the response, nil for a notification.
func (c *conn) answer(next request) []byte {
	c.observe(&next)
	if next.err != nil {
		return c.fail(nil, &next, next.verdict, next.err)
	}
	result, e := c.s.callMethod(c.ctx, next.method, next.params)
	switch {
	case e != nil:
		return c.fail(nil, &next, contract.VerdictProtocol, e)
	case next.silent:
		return nil
	default:
		next.ended(nil)
		return appendResult(make([]byte, 0, len(result)+len(next.id)+64), next.id, result)
	}
}
