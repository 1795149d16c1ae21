package line

import (
	"errors"
	"io"
	"sync"
)

const (
	flushSize  = 32 << 10 // bytes of queued lines that are written without waiting for more
	maxPending = 1 << 20  // bytes of queued lines for the client; beyond that, add blocks
	keepBuffer = 1 << 18  // capacity of an empty buffer that is kept
)

// output collects lines and writes many of them with one call of Write. It has no goroutine: the caller of flush
// writes, including the lines that others add meanwhile.
type output struct {
	w      io.Writer
	failed chan struct{} // closed when a write has failed

	mu      sync.Mutex
	written sync.Cond // signals that a write has ended
	pending []byte
	spare   []byte
	writing bool
	err     error
}

func newOutput(w io.Writer) *output {
	o := &output{w: w, failed: make(chan struct{})}
	o.written.L = &o.mu
	return o
}

// add queues one line, which must end in LF. The caller must flush before it waits for anything. add blocks while the
// queue is full; lines for a failed stream are dropped.
func (o *output) add(line []byte) {
	o.mu.Lock()
	for len(o.pending) > maxPending && o.err == nil {
		o.written.Wait()
	}
	if o.err == nil {
		o.pending = append(o.pending, line...)
	}
	full := len(o.pending) >= flushSize
	o.mu.Unlock()
	if full {
		o.flush()
	}
}

// flush writes the queue, unless another goroutine is writing, which then writes it too.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.writing {
		return
	}
	o.writing = true
	for len(o.pending) > 0 && o.err == nil {
		o.write()
	}
	o.writing = false
}

// write writes the queue. The caller holds the lock, which write releases while it writes.
func (o *output) write() {
	lines := o.pending
	o.pending, o.spare = o.spare, nil
	o.mu.Unlock()
	n, err := o.w.Write(lines)
	if err == nil && n < len(lines) {
		err = io.ErrShortWrite
	}
	o.mu.Lock()
	if cap(lines) <= keepBuffer {
		o.spare = lines[:0]
	}
	if err != nil {
		o.end(err)
	}
	o.written.Broadcast()
}

// end makes the output drop all lines from now on. The caller holds the lock.
func (o *output) end(err error) {
	if o.err == nil {
		o.err, o.pending = err, nil
		close(o.failed)
	}
}

var errStuck = errors.New("the client does not read its responses")

// abort ends an output whose client does not read, so that add and close no longer block. It returns the error that
// ended the output.
func (o *output) abort() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end(errStuck)
	o.written.Broadcast()
	return o.err
}

// close writes the queue and returns the error that ended the stream, if any.
func (o *output) close() error {
	o.flush()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.writing && o.err == nil {
		o.written.Wait()
	}
	return o.err
}
