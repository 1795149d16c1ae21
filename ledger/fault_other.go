//go:build !unix

package ledger

import "syscall"

const errQuota = syscall.ENOSPC

const nonBlocking = 0
