package segment

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/candor-mcp/candor/internal/segment/format"
)

// ErrCorrupt means that the bytes on the disk are not those of a segment. It is damage, as opposed to a failure to
// read.
var ErrCorrupt = errors.New("corrupt")

// LineBuffer splits a stream into lines. At the end of the stream it keeps a partial line, so that a growing file can
// be read again.
type LineBuffer struct {
	in       io.Reader
	buf      []byte
	from, to int
	clean    int   // bytes after from that hold no line feed
	Offset   int64 // of buf[from] in the stream
}

// Initial sizes of buffers, which grow to the longest line.
const (
	entryBuffer = 128 << 10
	NoteBuffer  = 4 << 10
)

// NewLineBuffer returns a buffer of size bytes that reads lines from in.
func NewLineBuffer(in io.Reader, size int) *LineBuffer {
	return &LineBuffer{in: in, buf: make([]byte, size)}
}

// reset starts reading another stream with the same memory.
func (l *LineBuffer) reset(in io.Reader) {
	*l = LineBuffer{in: in, buf: l.buf}
}

// Next returns the next whole line without its line feed, and its offset. The line is valid until the next call. Next
// returns io.EOF if there is currently no whole line.
func (l *LineBuffer) Next() (line []byte, offset int64, err error) {
	for {
		if i := bytes.IndexByte(l.buf[l.from+l.clean:l.to], '\n'); i >= 0 {
			end := l.from + l.clean + i
			line, offset = l.buf[l.from:end], l.Offset
			l.Offset += int64(end + 1 - l.from)
			l.from, l.clean = end+1, 0
			return line, offset, nil
		}
		l.clean = l.to - l.from
		if err := l.fill(); err != nil {
			return nil, l.Offset, err
		}
	}
}

// Rest returns the bytes read after the last whole line.
func (l *LineBuffer) Rest() []byte { return l.buf[l.from:l.to] }

// release frees the memory if the buffer is empty. Lines that were returned stay valid.
func (l *LineBuffer) release() {
	if l.from == l.to {
		l.buf, l.from, l.to, l.clean = nil, 0, 0, 0
	}
}

func (l *LineBuffer) fill() error {
	if l.buf == nil {
		l.buf = make([]byte, entryBuffer)
	}
	if l.from > 0 {
		copy(l.buf, l.buf[l.from:l.to])
		l.from, l.to = 0, l.to-l.from
	}
	if l.to == len(l.buf) {
		if len(l.buf) >= format.MaxLine {
			return fmt.Errorf("%w: a line is longer than %d MiB", ErrCorrupt, format.MaxLine>>20)
		}
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	for range 100 { // as in bufio: a reader that keeps returning nothing is broken
		n, err := l.in.Read(l.buf[l.to:])
		l.to += n
		if n > 0 {
			return nil // the next Read returns the error again
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}
