package stdio

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/candor-mcp/candor/internal/framing"
)

// lineWriter writes messages to a peer, one per line. Lines are never interleaved. It is safe for concurrent use.
type lineWriter struct {
	stall  time.Duration // how long a write may block; 0 means no limit
	to     io.Writer
	writes atomic.Uint64 // incremented at the beginning and the end of each write, so it is odd during a write

	mu     sync.Mutex // guards the fields below
	w      *bufio.Writer
	err    error         // the first error of a write; nothing is written after it
	broken chan struct{} // closed when err is set
	lost   int64         // number of messages after the error
}

// lineBufferSize is the size of the write buffer. A larger message is not copied.
const lineBufferSize = 64 << 10

func newLineWriter(w io.Writer, stall time.Duration) *lineWriter {
	o := &lineWriter{stall: stall, to: w, broken: make(chan struct{})}
	o.w = bufio.NewWriterSize(countingStream{o}, lineBufferSize)
	return o
}

// countingStream writes to the stream of a lineWriter and counts the writes.
type countingStream struct{ o *lineWriter }

func (s countingStream) Write(p []byte) (int, error) {
	s.o.writes.Add(1)
	defer s.o.writes.Add(1)
	return s.o.to.Write(p)
}

// blockedSince reports whether the write that was in progress when [lineWriter.writes] was read is still in progress.
func (o *lineWriter) blockedSince(writes uint64) bool {
	return writes%2 == 1 && o.writes.Load() == writes
}

// queue adds a message that is written with the next flush at the latest. It ignores nil.
func (o *lineWriter) queue(message []byte) {
	if message == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.put(message)
}

// send writes a message and all messages queued before it.
func (o *lineWriter) send(message []byte) {
	if message == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.put(message)
	o.push()
}

// flush writes the queued messages.
func (o *lineWriter) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.push()
}

func (o *lineWriter) put(message []byte) {
	if o.err != nil {
		o.lost++
		return
	}
	if bytes.IndexByte(message, '\n') >= 0 {
		message = framing.AppendLine(nil, message)
		message = message[:len(message)-1]
	}
	if o.w.Available() <= len(message) {
		o.arm()
	}
	_, err := o.w.Write(message)
	if err == nil {
		err = o.w.WriteByte('\n')
	}
	o.note(err)
}

func (o *lineWriter) push() {
	if o.err != nil || o.w.Buffered() == 0 {
		return
	}
	o.arm()
	o.note(o.w.Flush())
}

// arm sets the deadline of the next write, if the stream supports deadlines.
func (o *lineWriter) arm() {
	if d, ok := o.to.(interface{ SetWriteDeadline(time.Time) error }); ok && o.stall > 0 {
		_ = d.SetWriteDeadline(time.Now().Add(o.stall)) // streams without deadlines block
	}
}

func (o *lineWriter) note(err error) {
	if err != nil && o.err == nil {
		o.err = err
		close(o.broken)
	}
}

// shut writes the queued messages and drops all later ones.
func (o *lineWriter) shut() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.push()
	o.note(errShut)
}

var errShut = errors.New("the session is over")

// undelivered returns the number of messages after a write had failed.
func (o *lineWriter) undelivered() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lost
}

// failure returns the first error of a write.
func (o *lineWriter) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// flushingReader flushes the queued messages before each read, so that messages that arrive together are sent together, without a
// timer.
type flushingReader struct {
	r     io.Reader
	flush func()
}

func (e flushingReader) Read(p []byte) (int, error) {
	e.flush()
	return e.r.Read(p)
}
