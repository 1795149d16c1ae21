package stdio

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// watchHangUp returns a channel that is closed when the peer closes its end of in, even if unread data remains. The channel is
// nil if in is not a pipe or a socket. Stop ends the watch.
//
// Reading is not sufficient, because the reader may be blocked on writing an answer that the peer does not read.
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
		return nil, func() {} // then only reading detects it
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

// awaitHangUp waits until the peer of f closes its end. It returns false if the peer of stop closes first.
func awaitHangUp(f, stop *os.File) bool {
	hungUp := false
	_ = control(stop, func(stopFD int32) { // both files stay open during the call
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

// control calls do with the descriptor of f, which stays open during the call.
func control(f *os.File, do func(fd int32)) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Control(func(fd uintptr) { do(int32(fd)) }) // descriptors are small
}
