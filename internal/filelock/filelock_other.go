//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package filelock

import (
	"errors"
	"fmt"
	"os"
)

// TryLock fails: this system has no file locks.
func TryLock(*os.File) error { return fmt.Errorf("file locks: %w", errors.ErrUnsupported) }
