//go:build unix

package http1

import "syscall"

// quiet returns a function that reports whether a read from a socket would block, so that there is neither data nor an end. The
// function is created once per socket, because it is called before every request.
func quiet(raw syscall.RawConn) func() bool {
	var still bool
	var one [1]byte
	look := func(fd uintptr) bool {
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		still = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
		return true
	}
	return func() bool { return raw.Read(look) == nil && still }
}
