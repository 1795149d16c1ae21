//go:build !windows

package oserror

import "syscall"

var (
	full       = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT}
	closedPipe = []syscall.Errno{syscall.EPIPE}
	reset      = []syscall.Errno{syscall.ECONNRESET}
	refused    = []syscall.Errno{syscall.ECONNREFUSED}
)
