package candor

import (
	"errors"
	"syscall"
)

// systemErrnos names the numbers that Windows returns: there the constants of package syscall are numbers that Go has invented.
var systemErrnos = []namedErrno{
	{2, "ENOENT"}, {3, "ENOENT"}, {80, "EEXIST"}, {183, "EEXIST"}, {5, "EACCES"}, {32, "EBUSY"}, {33, "EBUSY"}, {4, "EMFILE"}, {19, "EROFS"},
	{39, "ENOSPC"}, {112, "ENOSPC"}, {1295, "EDQUOT"}, {109, "EPIPE"}, {232, "EPIPE"}, {145, "ENOTEMPTY"}, {267, "ENOTDIR"}, {17, "EXDEV"},
	{206, "ENAMETOOLONG"}, {87, "EINVAL"}, {123, "EINVAL"}, {8, "ENOMEM"}, {14, "ENOMEM"}, {1921, "ELOOP"},
	{10061, "ECONNREFUSED"}, {10054, "ECONNRESET"}, {10053, "ECONNABORTED"}, {10060, "ETIMEDOUT"}, {10065, "EHOSTUNREACH"},
	{10051, "ENETUNREACH"}, {10048, "EADDRINUSE"}, {10057, "ENOTCONN"}, {64, "ECONNRESET"},
}

// isSystemGone reports whether err means that a peer is gone or cannot be reached.
func isSystemGone(err error) bool {
	return isSystem(err, "EPIPE", "ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EHOSTUNREACH", "ENETUNREACH")
}

// isSystemFull reports whether err means that the disk or the quota is full.
func isSystemFull(err error) bool { return isSystem(err, "ENOSPC", "EDQUOT") }

func isSystem(err error, names ...string) bool {
	var number syscall.Errno
	if !errors.As(err, &number) {
		return false
	}
	for _, known := range systemErrnos {
		if known.errno != number {
			continue
		}
		for _, name := range names {
			if known.name == name {
				return true
			}
		}
	}
	return false
}
