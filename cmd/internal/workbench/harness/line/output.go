package line

import (
	"errors"
	"io"
	"sync"
)

const (
	flushSize  = 32 << 10 // bytes of lines that are written without waiting for more
	maxPending = 1 << 20  // bytes of lines that wait for the client; more and those who add lines wait too
	keepBuffer = 1 << 18  // bytes of an empty buffer that is kept
)

// output collects lines and writes many of them with one call of Write. It has no goroutine: the caller of flush writes, and also
// writes the lines that others add in the meantime.
type output struct {
	w      io.Writer
	failed chan struct{} // closed when the stream does not take any more

	mu      sync.Mutex
	written sync.Cond // a write has ended
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

// add queues one line, which must end in LF. The caller must flush before it waits for anything. add waits while there is too much in
// the queue; a line for a stream that has failed is dropped.
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

// flush writes what is queued, unless another goroutine is writing, which will write that too.
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

// write takes the queue and writes it. It is called with the lock, which it releases meanwhile.
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

// end drops all lines from now on. It is called with the lock.
func (o *output) end(err error) {
	if o.err == nil {
		o.err, o.pending = err, nil
		close(o.failed)
	}
}

var errStuck = errors.New("the client does not read its responses")

// abort ends an output whose client does not read, so that no add or close waits any longer. It returns the error that ended the output.
func (o *output) abort() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end(errStuck)
	o.written.Broadcast()
	return o.err
}

// close writes what is left and returns the error that ended the stream, if any.
func (o *output) close() error {
	o.flush()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.writing && o.err == nil {
		o.written.Wait()
	}
	return o.err
}
