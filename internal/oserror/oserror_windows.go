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
