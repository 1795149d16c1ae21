//go:build unix

package storage

import "syscall"

// nonBlocking makes opening a pipe fail immediately instead of waiting for its other end.
const nonBlocking = syscall.O_NONBLOCK
