package decodecmd

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine bounds one line, or one value that spans lines.
const maxLine = 16 << 20

// headKept is the number of bytes kept of a line that is too long, for the error message.
const headKept = 4096

// line is one line of input with its number, counted from 1.
type line struct {
	bytes   []byte // without the line end; valid until the next call of next
	number  int
	tooLong bool // bytes is only its beginning
}

// lines splits a stream into lines with bounded memory. Blank lines are counted and skipped.
type lines struct {
	in     *bufio.Reader
	buf    []byte
	number int
}

func newLines(r io.Reader) *lines { return &lines{in: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line that is not blank, or the error of the reader.
func (l *lines) next() (line, error) {
	for {
		text, tooLong, err := l.read()
		if err != nil {
			return line{}, err
		}
		if l.number == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff")) // byte order mark
		}
		if len(bytes.TrimSpace(text)) > 0 {
			return line{bytes: text, number: l.number, tooLong: tooLong}, nil
		}
	}
}

// read returns one line. If a line is too long, it returns the beginning and skips the remainder.
func (l *lines) read() (text []byte, tooLong bool, err error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.in.ReadSlice('\n')
		if !tooLong {
			l.buf = append(l.buf, part...)
		}
		if len(l.buf) > maxLine+len("\r\n") {
			l.buf, tooLong = append([]byte(nil), l.buf[:headKept]...), true
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF), err != nil && len(l.buf) == 0:
			return nil, false, err
		}
		l.number++
		text = bytes.TrimSuffix(bytes.TrimSuffix(l.buf, []byte("\n")), []byte("\r"))
		if len(text) > maxLine {
			text, tooLong = text[:headKept], true
		}
		return text, tooLong, nil
	}
}
