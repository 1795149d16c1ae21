//go:build !unix

package storage

import "syscall"

const errQuota = syscall.ENOSPC

const nonBlocking = 0
