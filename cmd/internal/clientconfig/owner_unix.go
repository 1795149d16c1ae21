//go:build unix

package clientconfig

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// hardLinks returns the number of names of a file.
func hardLinks(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink) //nolint:unconvert // 16 or 32 bits on other systems
	}
	return 1
}

// keepOwner gives f the owner and the group of the file that it replaces.
func keepOwner(f *os.File, old fs.FileInfo) error {
	want, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if is, ok := info.Sys().(*syscall.Stat_t); ok && is.Uid == want.Uid && is.Gid == want.Gid {
		return nil
	}
	if err := f.Chown(int(want.Uid), int(want.Gid)); err != nil {
		return fmt.Errorf("keeping the owner of the file: %w", plainError(err))
	}
	return nil
}
