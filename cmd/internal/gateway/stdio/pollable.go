package stdio

import (
	"io"
	"os"
	"strconv"
	"syscall"
	"time"
)

// pollable returns in, or the same pipe reopened if reads of in would block a thread. Such a read cannot be interrupted, and with
// one processor it delays the server's output until the runtime preempts it. The flags of in are not changed, because other
// processes may share them. Done closes the reopened pipe.
func pollable(in io.Reader) (out io.Reader, done func()) {
	f, ok := in.(*os.File)
	if !ok || f.SetReadDeadline(time.Time{}) == nil {
		return in, func() {}
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return in, func() {}
	}
	again, err := os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(f.Fd())), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return in, func() {} // /dev/fd is missing, or the pipe belongs to another user
	}
	return again, func() { _ = again.Close() } // it was only read
}
