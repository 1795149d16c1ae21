// Package framing cuts byte streams into frames: lines of newline-delimited JSON and events of an event stream. A frame that is
// longer than the limit is skipped, and its two ends are kept so that the call can still be answered.
package framing

import (
	"io"

	"github.com/candor-mcp/candor/wire"
)

// buffer holds the unread bytes of a reader, at most one frame within the limit.
type buffer struct {
	src  io.Reader
	most int // bytes the buffer must be able to hold unread
	from int // bytes the buffer begins with
	keep int // size up to which an empty buffer is kept
	buf  []byte
	r, w int   // buf[r:w] is unread
	err  error // the reader's error; sticky
}

const (
	bufferStart = 32 << 10
	bufferKeep  = 1 << 20
	emptyReads  = 100 // in a row before the reader counts as stuck
)

func (in *buffer) unread() []byte { return in.buf[in.r:in.w] }

// fill makes space and reads once. It sets err when the reader fails.
func (in *buffer) fill() {
	in.makeSpace()
	for range emptyReads {
		n, err := in.src.Read(in.buf[in.w:])
		in.w += n
		in.err = err
		if n > 0 || err != nil {
			return
		}
	}
	in.err = io.ErrNoProgress
}

func (in *buffer) makeSpace() {
	if in.r == in.w {
		in.r, in.w = 0, 0
		if len(in.buf) > in.keep {
			in.buf = nil
		}
	}
	if in.w < len(in.buf) {
		return
	}
	if in.r > 0 {
		in.w = copy(in.buf, in.unread())
		in.r = 0
		return
	}
	grown := make([]byte, max(in.from, min(2*len(in.buf), in.most)))
	in.w = copy(grown, in.unread())
	in.r, in.buf = 0, grown
}

// maxBytes returns the bound of one frame.
func maxBytes(lim wire.Limits) int {
	const ceiling = 1 << 30
	if lim.MaxBytes <= 0 {
		return wire.DefaultMaxBytes
	}
	return min(lim.MaxBytes, ceiling)
}

// stop is the index for not found.
const stop = -1

var bom = []byte("\xef\xbb\xbf")
