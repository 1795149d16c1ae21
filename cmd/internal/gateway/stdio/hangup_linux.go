package stdio

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// watchHangUp returns a channel that is closed when the peer closes its end of in, also while there is something left to read. It is
// nil if in is not a pipe or a socket. Stop ends the watch.
//
// Reading alone would not do: the reader may be waiting to write an answer that the peer does not take.
func watchHangUp(in io.Reader) (hungUp <-chan struct{}, stop func()) {
	f, ok := in.(*os.File)
	if !ok {
		return nil, func() {}
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return nil, func() {}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, func() {} // then it is noticed by reading
	}
	closed, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		if awaitHangUp(f, r) {
			close(closed)
		}
	}()
	return closed, func() {
		_ = w.Close()
		<-ended
		_ = r.Close()
	}
}

// awaitHangUp waits until the peer of f has closed its end, and reports false if that of stop is closed first.
func awaitHangUp(f, stop *os.File) bool {
	hungUp := false
	_ = control(stop, func(stopFD int32) { // both files are open as long as this runs
		_ = control(f, func(fd int32) {
			fds := []unix.PollFd{{Fd: fd, Events: unix.POLLRDHUP}, {Fd: stopFD}}
			for {
				_, err := unix.Poll(fds, -1)
				if errors.Is(err, unix.EINTR) {
					continue
				}
				hungUp = err == nil && fds[1].Revents == 0
				return
			}
		})
	})
	return hungUp
}

// control calls do with the descriptor of f, which stays open meanwhile.
func control(f *os.File, do func(fd int32)) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Control(func(fd uintptr) { do(int32(fd)) }) // the kernel counts them from 0
}
