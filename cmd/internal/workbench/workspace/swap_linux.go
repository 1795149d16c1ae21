package workspace

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps two names in one folder atomically. The error is errors.ErrUnsupported if the file system cannot.
func exchange(dir *os.Root, a, b string) error { return renameat2(dir, a, b, unix.RENAME_EXCHANGE) }

// renameNew renames within one folder and does not replace a file.
func renameNew(dir *os.Root, from, to string) error {
	err := renameat2(dir, from, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, errors.ErrUnsupported) {
		return renameUnlessThere(dir, from, to)
	}
	return err
}

// renameat2 renames within one folder. The error is errors.ErrUnsupported if the file system does not support the flags.
func renameat2(dir *os.Root, from, to string, flags uint) error {
	err := inFolder(dir, func(fd int) error { return unix.Renameat2(fd, from, fd, to, flags) })
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	if err != nil {
		return &fs.PathError{Op: "renameat2", Path: to, Err: err}
	}
	return nil
}
