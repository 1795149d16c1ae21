//go:build !linux

package workspace

import (
	"errors"
	"os"
)

// exchange is not supported; the caller falls back to a rename after a check.
func exchange(*os.Root, string, string) error { return errors.ErrUnsupported }

func renameNew(dir *os.Root, from, to string) error { return renameUnlessThere(dir, from, to) }
