//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

const (
	nonBlock  = 0
	notFolder = syscall.ENOTDIR
)

// links is not known here; hard links are not refused.
func links(fs.FileInfo) uint64 { return 1 }

func ownerOf(fs.FileInfo) owner { return owner{-1, -1} }

// syncFolder does nothing: a folder cannot be opened for it.
func syncFolder(*os.Root) error { return nil }

// tryLock refuses: without a lock two processes could undo each other's changes.
func tryLock(*os.File) error { return errors.ErrUnsupported }

// removeEmpty removes an empty folder, as good as a look and a removal can be.
func removeEmpty(dir *os.Root, name string) error {
	if info, err := dir.Lstat(name); err != nil || !info.IsDir() {
		return errors.Join(err, errors.New("not a folder"))
	}
	return dir.Remove(name)
}
