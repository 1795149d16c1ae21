package oserror

import "syscall"

// The numbers are those of winerror.h. The invented numbers of package syscall are here too, because our own code
// returns some of them.
var (
	full = []syscall.Errno{
		syscall.ENOSPC, syscall.EDQUOT,
		39,   // ERROR_HANDLE_DISK_FULL
		112,  // ERROR_DISK_FULL
		1295, // ERROR_DISK_QUOTA_EXCEEDED
	}
	scarce = []syscall.Errno{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM,
		4,  // ERROR_TOO_MANY_OPEN_FILES
		8,  // ERROR_NOT_ENOUGH_MEMORY
		14, // ERROR_OUTOFMEMORY
	}
	closedPipe = []syscall.Errno{
		syscall.EPIPE,
		109, // ERROR_BROKEN_PIPE
		232, // ERROR_NO_DATA: "the pipe is being closed"
	}
	reset = []syscall.Errno{
		syscall.ECONNRESET, syscall.ECONNABORTED, syscall.WSAECONNRESET, syscall.WSAECONNABORTED,
		64, // ERROR_NETNAME_DELETED
	}
	refused = []syscall.Errno{
		syscall.ECONNREFUSED,
		10061, // WSAECONNREFUSED
	}
)

// systemNames are the names of the numbers that Windows returns.
var systemNames = map[syscall.Errno]string{
	2: "ENOENT", 3: "ENOENT", 80: "EEXIST", 183: "EEXIST", 5: "EACCES", 32: "EBUSY", 33: "EBUSY", 4: "EMFILE", 19: "EROFS",
	39: "ENOSPC", 112: "ENOSPC", 1295: "EDQUOT", 109: "EPIPE", 232: "EPIPE", 145: "ENOTEMPTY", 267: "ENOTDIR", 17: "EXDEV",
	206: "ENAMETOOLONG", 87: "EINVAL", 123: "EINVAL", 8: "ENOMEM", 14: "ENOMEM", 1921: "ELOOP",
	10061: "ECONNREFUSED", 10054: "ECONNRESET", 10053: "ECONNABORTED", 10060: "ETIMEDOUT", 10065: "EHOSTUNREACH",
	10051: "ENETUNREACH", 10048: "EADDRINUSE", 10057: "ENOTCONN", 64: "ECONNRESET",
}
