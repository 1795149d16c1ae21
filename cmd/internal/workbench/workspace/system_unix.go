//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package workspace

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/candor-mcp/candor/internal/durable"
)

// nonBlock keeps open from blocking on a FIFO.
const nonBlock = syscall.O_NONBLOCK

const notFolder = syscall.ENOTDIR

// links returns the number of hard links of a file.
func links(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

// ownerOf returns the owner of a file.
func ownerOf(info fs.FileInfo) owner {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return owner{UID: int(s.Uid), GID: int(s.Gid)}
	}
	return owner{-1, -1}
}

// syncFolder makes the names in a folder durable.
func syncFolder(dir *os.Root) error { return durable.SyncDir(dir, ".") }

// removeEmpty removes an empty folder, and never a file.
func removeEmpty(dir *os.Root, name string) error {
	err := inFolder(dir, func(fd int) error { return unix.Unlinkat(fd, name, unix.AT_REMOVEDIR) })
	if err != nil {
		return &fs.PathError{Op: "rmdir", Path: name, Err: err}
	}
	return nil
}

// inFolder makes a system call with the descriptor of a folder, so that there is no path that could be swapped.
func inFolder(dir *os.Root, call func(fd int) error) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer d.Close() //nolint:errcheck // a folder opened for its descriptor
	raw, err := d.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		for failed = unix.EINTR; errors.Is(failed, unix.EINTR); {
			failed = call(int(fd))
		}
	})
	return cmp.Or(failed, err)
}
