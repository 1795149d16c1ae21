//go:build unix

package folder

import (
	"errors"
	"io/fs"
	"syscall"
)

// NonBlock prevents opening a FIFO from waiting for its other end.
const NonBlock = syscall.O_NONBLOCK

// isNotFolder reports whether an element of a path is not a directory but has to be.
func isNotFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// Links returns the number of names (hard links) of a file.
func Links(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink) //nolint:unconvert // its type depends on the system
	}
	return 1
}
