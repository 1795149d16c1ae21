package workspace

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps two names of one folder in one step. errors.ErrUnsupported: the file system cannot.
func exchange(dir *os.Root, a, b string) error { return renameat2(dir, a, b, unix.RENAME_EXCHANGE) }

// renameNew renames within one folder and replaces nothing.
func renameNew(dir *os.Root, from, to string) error {
	err := renameat2(dir, from, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, errors.ErrUnsupported) {
		return renameUnlessThere(dir, from, to)
	}
	return err
}

// renameat2 works on the descriptor of the folder and on plain names, so no path is walked that somebody could swap.
func renameat2(dir *os.Root, from, to string, flags uint) error {
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
			failed = unix.Renameat2(int(fd), from, int(fd), to, flags)
		}
	})
	if errors.Is(failed, unix.EINVAL) || errors.Is(failed, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	if failed != nil {
		return &fs.PathError{Op: "renameat2", Path: to, Err: failed}
	}
	return err
}
