//go:build unix

package folder

import (
	"errors"
	"syscall"
)

// nonBlock prevents opening a FIFO from waiting for its other end.
const nonBlock = syscall.O_NONBLOCK

// isNotFolder reports whether an element of a path is not a directory but has to be.
func isNotFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
