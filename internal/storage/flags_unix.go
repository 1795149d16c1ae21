//go:build unix

package storage

import (
	"os"
	"syscall"
)

const (
	appendFlag  = os.O_APPEND        // every write goes to the end of the file
	nonBlocking = syscall.O_NONBLOCK // opening a pipe fails immediately instead of waiting for its other end
)
