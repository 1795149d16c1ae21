//go:build unix

package http1

import "syscall"

// quiet reports that nothing can be read from a socket, not even its end.
func quiet(raw syscall.RawConn) bool {
	var still bool
	err := raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		still = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
		return true
	})
	return err == nil && still
}
