//go:build unix

package durable

import "syscall"

const nonBlocking = syscall.O_NONBLOCK
