//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package ledger

import (
	"errors"
	"os"
)

func syncFolder(f *os.File) error { return f.Sync() }

// openLocked refuses: without locks two writers could take each other's chain for an abandoned one.
func openLocked(*os.Root, string) (*os.File, error) {
	return nil, errors.New("this system has no file locks: " + errors.ErrUnsupported.Error())
}
