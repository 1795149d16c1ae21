//go:build unix

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// replaceProcess runs a program in place of this one, with the same environment. It returns only after an error.
func replaceProcess(_ context.Context, path string, argv []string) (int, error) {
	return 0, fmt.Errorf("running %s: %w", path, syscall.Exec(path, argv, os.Environ()))
}

// checkOwner returns an error if a file could be from another user than the executable beside it, for example in a folder for temporary
// files that everybody may write.
func checkOwner(self, other fs.FileInfo) error {
	if other.Mode().Perm()&0o111 == 0 {
		return errors.New("not executable")
	}
	if other.Mode().Perm()&0o002 != 0 {
		return errors.New("every user may change it")
	}
	own, ok := self.Sys().(*syscall.Stat_t)
	theirs, also := other.Sys().(*syscall.Stat_t)
	if !ok || !also || (theirs.Uid != own.Uid && theirs.Uid != 0) {
		return errors.New("it belongs to another user than this executable")
	}
	return nil
}
