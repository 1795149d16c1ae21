package stdio

import (
	"errors"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// interruptibleWriter is a stream to a peer with writes that can be interrupted while they block.
type interruptibleWriter interface {
	io.Writer
	// interrupt makes every write fail, including the current one. It may be called at any time.
	interrupt()
	// release frees the resources of the writer. The stream itself stays open.
	release()
}

// interruptible returns w as an interruptibleWriter. Flags of w that other processes share are not changed: a blocking pipe is
// reopened, and anything else is written to by a goroutine, which leaks if a write never returns.
func interruptible(w io.Writer) interruptibleWriter {
	d, ok := w.(deadlineWriter)
	if ok && d.SetWriteDeadline(time.Time{}) == nil {
		return &deadlined{deadlineWriter: d}
	}
	if f, isFile := w.(*os.File); isFile {
		if again, err := reopenPipe(f, os.O_WRONLY); err == nil {
			return &deadlined{deadlineWriter: again, opened: again}
		}
	}
	return newHandOver(w)
}

type deadlineWriter interface {
	io.Writer
	SetWriteDeadline(t time.Time) error
}

// deadlined is a file that supports write deadlines.
type deadlined struct {
	deadlineWriter
	opened *os.File // nil if the file is the caller's
}

func (d *deadlined) interrupt() { _ = d.SetWriteDeadline(time.Now()) } // interruptible has checked that deadlines are supported

func (d *deadlined) release() {
	if d.opened != nil {
		_ = d.opened.Close() // the data is already in the pipe
		return
	}
	_ = d.SetWriteDeadline(time.Time{}) // restore the caller's file
}

// handOver writes in another goroutine, so that its callers do not block on a write that never returns.
type handOver struct {
	to      io.Writer
	texts   chan []byte
	results chan error
	ended   chan struct{} // closed when writes are interrupted
	end     sync.Once
	once    sync.Once // for release
}

func newHandOver(w io.Writer) *handOver {
	h := &handOver{to: w, texts: make(chan []byte), results: make(chan error, 1), ended: make(chan struct{})}
	go func() {
		for text := range h.texts {
			_, err := h.to.Write(text)
			h.results <- err
		}
	}()
	return h
}

// Write must be called by one goroutine at a time. It writes a copy of p, so that the caller may reuse p after an interrupted write.
func (h *handOver) Write(p []byte) (int, error) {
	select {
	case <-h.ended:
		return 0, os.ErrDeadlineExceeded
	case h.texts <- append([]byte(nil), p...):
	}
	select {
	case err := <-h.results:
		if err != nil {
			return 0, err
		}
		return len(p), nil
	case <-h.ended:
		return 0, os.ErrDeadlineExceeded
	}
}

func (h *handOver) interrupt() { h.end.Do(func() { close(h.ended) }) }

// release must be called after the last write.
func (h *handOver) release() { h.once.Do(func() { close(h.texts) }) }

// pollable returns in, or the same pipe reopened if reads of in would block a thread. Such a read cannot be interrupted, and with
// one processor it delays the server's output until the runtime preempts it. The flags of in are not changed, because other
// processes may share them. Done closes the reopened pipe.
func pollable(in io.Reader) (out io.Reader, done func()) {
	f, ok := in.(*os.File)
	if !ok || f.SetReadDeadline(time.Time{}) == nil {
		return in, func() {}
	}
	again, err := reopenPipe(f, os.O_RDONLY)
	if err != nil {
		return in, func() {} // not a pipe, or it belongs to another user
	}
	return again, func() { _ = again.Close() } // it was only read
}

// reopenPipe opens the pipe of f again, without blocking, so that its reads and writes can have deadlines.
func reopenPipe(f *os.File, flag int) (*os.File, error) {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return nil, errors.ErrUnsupported
	}
	return os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(f.Fd())), flag|syscall.O_NONBLOCK, 0)
}
