//go:build !windows

package oserror

import "syscall"

var (
	full       = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT}
	scarce     = []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS}
	closedPipe = []syscall.Errno{syscall.EPIPE}
	reset      = []syscall.Errno{syscall.ECONNRESET}
	refused    = []syscall.Errno{syscall.ECONNREFUSED}

	systemNames map[syscall.Errno]string
)
