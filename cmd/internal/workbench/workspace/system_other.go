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

// links always returns 1, so hard links are not refused on this system.
func links(fs.FileInfo) uint64 { return 1 }

func ownerOf(fs.FileInfo) owner { return owner{-1, -1} }

// syncFolder does nothing, because a folder cannot be opened for syncing.
func syncFolder(*os.Root) error { return nil }

// removeEmpty removes an empty folder. The check and the removal are not atomic.
func removeEmpty(dir *os.Root, name string) error {
	if info, err := dir.Lstat(name); err != nil || !info.IsDir() {
		return errors.Join(err, errors.New("not a folder"))
	}
	return dir.Remove(name)
}
