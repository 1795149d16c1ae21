package line

import (
	"io"
	"sync"
)

const (
	maxPending = 1 << 20 // bytes of lines that wait for the client; more and those who add lines wait
	keepBuffer = 1 << 18 // bytes of an empty buffer that is kept
)

// output writes lines from a goroutine of its own. Lines that are added while a write is going on leave together with the next one.
type output struct {
	w      io.Writer
	failed chan struct{} // closed when the stream does not take any more
	done   chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	added   sync.Cond // there are lines, or there will be no more
	drained sync.Cond // the waiting lines have been taken
	pending []byte
	closed  bool
	err     error
}

func newOutput(w io.Writer) *output {
	o := &output{w: w, failed: make(chan struct{}), done: make(chan struct{})}
	o.added.L, o.drained.L = &o.mu, &o.mu
	go o.run()
	return o
}

// add queues one line, which must end in LF. It waits while there is too much in the queue. It reports false if the stream has
// failed, and then drops the line.
func (o *output) add(line []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.pending) > maxPending && o.err == nil {
		o.drained.Wait()
	}
	if o.err != nil {
		return false
	}
	o.pending = append(o.pending, line...)
	o.added.Signal()
	return true
}

// close waits until all lines are written and returns the error that ended the stream, if any.
func (o *output) close() error {
	o.mu.Lock()
	o.closed = true
	o.added.Signal()
	o.mu.Unlock()
	<-o.done
	return o.err
}

func (o *output) run() {
	defer close(o.done)
	var buffer []byte
	for {
		lines, ok := o.take(buffer)
		if !ok {
			return
		}
		if err := writeAll(o.w, lines); err != nil {
			o.fail(err)
			return
		}
		if buffer = lines[:0]; cap(buffer) > keepBuffer {
			buffer = nil
		}
	}
}

// take waits for lines and exchanges them for an empty buffer.
func (o *output) take(empty []byte) (lines []byte, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.pending) == 0 {
		if o.closed {
			return nil, false
		}
		o.added.Wait()
	}
	lines, o.pending = o.pending, empty
	o.drained.Broadcast()
	return lines, true
}

func (o *output) fail(err error) {
	o.mu.Lock()
	o.err, o.pending = err, nil
	o.drained.Broadcast()
	o.mu.Unlock()
	close(o.failed)
}

func writeAll(w io.Writer, b []byte) error {
	n, err := w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return err
}
