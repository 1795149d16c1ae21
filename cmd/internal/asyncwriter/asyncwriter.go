// Package asyncwriter writes logs to a stream with a reader that may be slow or stuck, without making the program wait for it.
package asyncwriter

import (
	"io"
	"sync"
	"time"
)

// Writer copies to another writer in the background. Write never blocks: when the queued bytes reach the limit,
// further writes are dropped whole and counted. It is safe for concurrent use.
type Writer struct {
	to     io.Writer
	limit  int
	notice func(writes, bytes int) []byte

	mu      sync.Mutex // guards the fields below
	pending []byte
	writes  int // dropped since the last notice
	bytes   int // bytes of the queue
	err     error
	closed  bool
	wake    chan struct{} // holds one signal: there is something to do
	done    chan struct{} // closed when the goroutine has ended
}

// DefaultLimit is the usual limit of queued bytes, enough for several thousand log lines.
const DefaultLimit = 512 << 10

// New returns a Writer that copies to w and queues at most limit bytes. notice returns the text that replaces dropped
// writes once w accepts bytes again. [Writer.Close] ends its goroutine.
func New(w io.Writer, limit int, notice func(writes, bytes int) []byte) *Writer {
	a := &Writer{to: w, limit: limit, notice: notice, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go a.run()
	return a
}

// Write queues a copy of p, or drops it. It returns the first error of the underlying writer; after an error nothing is
// queued.
func (a *Writer) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.err != nil:
		return 0, a.err
	case a.closed:
		return 0, io.ErrClosedPipe
	case a.writes > 0 || len(a.pending)+len(p) > a.limit && len(a.pending) > 0:
		a.writes++
		a.bytes += len(p)
		return len(p), nil
	}
	a.pending = append(a.pending, p...)
	a.signal()
	return len(p), nil
}

func (a *Writer) signal() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// run writes queued bytes until the Writer is closed and the queue is empty.
func (a *Writer) run() {
	defer close(a.done)
	for {
		text, last := a.take()
		if len(text) == 0 {
			if last {
				return
			}
			<-a.wake
			continue
		}
		if _, err := a.to.Write(text); err != nil {
			a.fail(err)
			return
		}
	}
}

// take returns the queued bytes, followed by a notice if writes were dropped, and whether the Writer is closed.
func (a *Writer) take() (text []byte, last bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	text, a.pending = a.pending, nil
	if a.writes > 0 {
		text = append(text, a.notice(a.writes, a.bytes)...)
		a.writes, a.bytes = 0, 0
	}
	return text, a.closed
}

func (a *Writer) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err, a.pending = err, nil
}

// Close waits up to timeout until all queued bytes are written, and reports whether they were. A write that hangs keeps
// its goroutine alive.
func (a *Writer) Close(timeout time.Duration) bool {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.signal()
	clock := time.NewTimer(timeout)
	defer clock.Stop()
	select {
	case <-a.done:
		return true
	case <-clock.C:
		return false
	}
}
