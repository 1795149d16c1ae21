// Package oserror recognises errors of the operating system that have a different number on each system.
//
// The constants of package syscall are not enough: on Windows syscall.ENOSPC and its like are numbers that Go has
// invented, which no call returns.
package oserror

import (
	"errors"
	"syscall"
)

// IsFull reports whether err means that the disk or the quota is full.
func IsFull(err error) bool { return isAny(err, full) }

// IsScarce reports whether err means that no file can be opened, or no memory used, until others are closed or freed.
func IsScarce(err error) bool { return isAny(err, scarce) }

// IsClosedPipe reports whether err means that the other end of a pipe or of a connection is closed.
func IsClosedPipe(err error) bool { return isAny(err, closedPipe) }

// IsReset reports whether err means that the peer has reset the connection.
func IsReset(err error) bool { return isAny(err, reset) }

// IsRefused reports whether err means that no process listens at the address.
func IsRefused(err error) bool { return isAny(err, refused) }

// Name returns the name of a common error number, such as ENOENT, or "".
func Name(number syscall.Errno) string {
	if name, ok := names[number]; ok {
		return name
	}
	return systemNames[number]
}

// names are the names of the constants of package syscall.
var names = map[syscall.Errno]string{
	syscall.ENOENT: "ENOENT", syscall.EEXIST: "EEXIST", syscall.EACCES: "EACCES", syscall.EPERM: "EPERM", syscall.ENOSPC: "ENOSPC",
	syscall.EISDIR: "EISDIR", syscall.ENOTDIR: "ENOTDIR", syscall.ENOTEMPTY: "ENOTEMPTY", syscall.EROFS: "EROFS",
	syscall.EMFILE: "EMFILE", syscall.EIO: "EIO", syscall.EBUSY: "EBUSY", syscall.EPIPE: "EPIPE", syscall.ECONNREFUSED: "ECONNREFUSED",
	syscall.ECONNRESET: "ECONNRESET", syscall.ECONNABORTED: "ECONNABORTED", syscall.ETIMEDOUT: "ETIMEDOUT",
	syscall.EHOSTUNREACH: "EHOSTUNREACH", syscall.ENETUNREACH: "ENETUNREACH", syscall.ENAMETOOLONG: "ENAMETOOLONG",
	syscall.EINVAL: "EINVAL", syscall.EINTR: "EINTR", syscall.EAGAIN: "EAGAIN", syscall.EXDEV: "EXDEV", syscall.ELOOP: "ELOOP",
	syscall.EADDRINUSE: "EADDRINUSE", syscall.ENOTCONN: "ENOTCONN", syscall.ENOMEM: "ENOMEM",
}

func isAny(err error, numbers []syscall.Errno) bool {
	for _, n := range numbers {
		if errors.Is(err, n) {
			return true
		}
	}
	return false
}
