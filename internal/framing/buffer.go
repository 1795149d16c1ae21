// Package framing cuts byte streams into frames: lines of newline-delimited JSON and events of an event stream. A frame that is
// longer than the limit is skipped, and its two ends are kept so that the call can still be answered.
package framing

import (
	"errors"
	"io"

	"github.com/candor-mcp/candor/wire"
)

// buffer is the buffer between a reader and the frames cut from it. It holds at most what a
// frame within the limit needs.
type buffer struct {
	src  io.Reader
	most int // bytes the buffer must be able to hold unread
	from int // bytes the buffer begins with
	keep int // bytes of a buffer that is not given up when it is empty
	buf  []byte
	r, w int   // buf[r:w] is unread
	err  error // what the reader ended with; sticky
}

const (
	bufferStart = 32 << 10
	bufferKeep  = 1 << 20
	emptyReads  = 100 // that many in a row mean that the reader is stuck
)

var errBadRead = errors.New("framing: the reader returned an impossible count")

func (in *buffer) unread() []byte { return in.buf[in.r:in.w] }

// fill reads once into free space, which it makes first. It sets err when the reader ends.
func (in *buffer) fill() {
	in.makeSpace()
	for range emptyReads {
		n, err := in.src.Read(in.buf[in.w:])
		if n < 0 || n > len(in.buf)-in.w {
			in.err = errBadRead
			return
		}
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

// stop is an index that means that nothing was found.
const stop = -1

var bom = []byte("\xef\xbb\xbf")
