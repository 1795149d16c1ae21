package stdio

import (
	"io"
	"os"
	"strconv"
	"syscall"
	"time"
)

// pollable returns in, or the same pipe opened anew if a read of in would hold a thread until it ends. Such a read cannot be called
// off, and with one processor it keeps what the server says waiting until the runtime takes the processor from it. The flags of in
// itself are left alone, because other processes may share them. Done closes what was opened.
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
		return in, func() {} // there is no such folder, or the pipe is another user's
	}
	return again, func() { _ = again.Close() } // nothing was written to it
}
