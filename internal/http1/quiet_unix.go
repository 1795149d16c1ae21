//go:build unix

package http1

import "syscall"

// quiet reports that nothing can be read from a socket, not even its end.
func quiet(raw syscall.RawConn) bool {
	var still bool
	err := raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT) //nolint:gosec // a descriptor fits
		still = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK                           //nolint:errorlint // a number as the kernel gives it
		return true
	})
	return err == nil && still
}
