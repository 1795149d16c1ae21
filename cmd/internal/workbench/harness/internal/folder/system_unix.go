//go:build unix

package folder

import (
	"errors"
	"syscall"
)

// nonBlock keeps the opening of a FIFO from waiting for its other end.
const nonBlock = syscall.O_NONBLOCK

// isNotFolder reports whether a part of a path that must be a folder is something else.
func isNotFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
