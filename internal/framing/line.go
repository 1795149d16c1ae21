package framing

import (
	"bytes"
	"io"

	"github.com/candor-mcp/candor/internal/wireflaw"
	"github.com/candor-mcp/candor/wire"
)

// Line is one line of a stream of newline-delimited JSON. Its slices are valid until the next call of [LineReader.Next].
type Line struct {
	// Bytes is the line without its LF or CRLF, otherwise as received: a byte order mark, a lone CR
	// or a NUL is left for [wire.Parse] to name. It is nil if the line is too large.
	Bytes []byte
	// Size is the length of the line without its LF or CRLF, also if it was not kept.
	Size int64
	// Flaw is wireflaw.None, or wireflaw.TooLarge for a line longer than Limits.MaxBytes.
	Flaw wireflaw.Flaw
	// Head and Tail are the first 4096 and the last 256 bytes of a line that is too large, for
	// [PeekID].
	Head, Tail []byte
	// Unended means that the stream ended before the line did.
	Unended bool
	// Number counts the lines of the stream from 1, blank ones included.
	Number int
}

// LineReader cuts a stream into lines. It holds at most one line of Limits.MaxBytes and the
// bytes of one read. Frames do not depend on the sizes of reads. It is not
// safe for concurrent use.
type LineReader struct {
	in     buffer
	max    int
	number int // of the last line
	seen   int // unread bytes without an LF
	over   overflow
}

// NewLineReader returns a reader of the lines of r, of which only Limits.MaxBytes counts. It reads
// ahead, so r must not be read by anyone else.
func NewLineReader(r io.Reader, lim wire.Limits) *LineReader {
	most := maxBytes(lim)
	return &LineReader{in: buffer{src: r, most: most + len("\r\n"), from: bufferStart, keep: bufferKeep}, max: most}
}

// Next returns the next line that is not blank. A line that is too large is drained and returned
// with its Flaw, and the following lines are not affected. At the end Next returns the error of
// the reader, usually [io.EOF]; an unended last line comes before it.
func (r *LineReader) Next() (Line, error) {
	for {
		if line, ok := r.NextBuffered(); ok {
			return line, nil
		}
		if r.in.err != nil {
			return r.last()
		}
		r.in.fill()
	}
}

// NextBuffered returns the next line like [LineReader.Next] if that is possible without reading from the stream, which may block.
// Otherwise ok is false.
func (r *LineReader) NextBuffered() (line Line, ok bool) {
	for {
		content, ok := r.cut()
		if !ok {
			return Line{}, false
		}
		if line := r.line(content); line.Flaw != wireflaw.None || !blank(line.Bytes) {
			return line, true
		}
	}
}

// cut returns a line of the unread bytes without its LF. If the line exceeds the limit, it drains
// the buffer.
func (r *LineReader) cut() (content []byte, ok bool) {
	unread := r.in.unread()
	if i := bytes.IndexByte(unread[r.seen:], '\n'); i >= 0 {
		content = unread[:r.seen+i]
		r.in.r += len(content) + 1
		r.seen = 0
		return content, true
	}
	r.seen = len(unread)
	if r.over.active || len(unread) > r.max+1 {
		r.over.absorb(unread)
		r.in.r = r.in.w
		r.seen = 0
	}
	return nil, false
}

// line makes a line of the content before an LF.
func (r *LineReader) line(content []byte) Line {
	r.number++
	trimmed := bytes.TrimSuffix(content, []byte("\r"))
	if !r.over.active && len(trimmed) <= r.max {
		return Line{Bytes: trimmed, Size: int64(len(trimmed)), Number: r.number}
	}
	r.over.absorb(content)
	r.over.trimCR()
	size, head, tail := r.over.take()
	return Line{Size: size, Flaw: wireflaw.TooLarge, Head: head, Tail: tail, Number: r.number}
}

func (r *LineReader) last() (Line, error) {
	rest := r.in.unread()
	r.in.r = r.in.w
	r.seen = 0
	if !r.over.active && blank(rest) {
		return Line{}, r.in.err
	}
	line := r.line(rest)
	line.Unended = true
	return line, nil
}

func blank(b []byte) bool { return len(bytes.TrimLeft(b, " \t\r")) == 0 }

// AppendLine appends a message and an LF to dst. A line end inside the message, which valid JSON
// has only between tokens, becomes a space; all else is kept.
func AppendLine(dst, message []byte) []byte {
	begin := len(dst)
	dst = append(dst, message...)
	for i, c := range dst[begin:] {
		if c == '\n' || c == '\r' {
			dst[begin+i] = ' '
		}
	}
	return append(dst, '\n')
}

// LineWriter writes messages as lines, each with a single call of Write so that lines of one
// writer are never torn. It is not safe for concurrent use.
type LineWriter struct {
	w   io.Writer
	buf []byte
}

// NewLineWriter returns a writer of lines to w.
func NewLineWriter(w io.Writer) *LineWriter { return &LineWriter{w: w} }

// WriteLine writes one message as [AppendLine] spells it.
func (w *LineWriter) WriteLine(message []byte) error {
	w.buf = AppendLine(w.buf[:0], message)
	return writeOnce(w.w, &w.buf)
}

// writeOnce writes buf and releases it if it is large.
func writeOnce(w io.Writer, buf *[]byte) error {
	n, err := w.Write(*buf)
	if err == nil && n < len(*buf) {
		err = io.ErrShortWrite
	}
	if cap(*buf) > bufferKeep {
		*buf = nil
	}
	return err
}
