package ledger

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"syscall"
)

// syncFolder does nothing: the system keeps names durable by itself.
func syncFolder(*os.File) error { return nil }

// openLocked opens the file for writing without letting others do so; they may read it. Closing it gives it back.
func openLocked(root *os.Root, name string) (*os.File, error) {
	full := filepath.Join(root.Name(), filepath.FromSlash(name))
	p, err := syscall.UTF16PtrFromString(full)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(p, syscall.GENERIC_READ|syscall.GENERIC_WRITE, syscall.FILE_SHARE_READ, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	const sharingViolation = syscall.Errno(32)
	if errors.Is(err, sharingViolation) {
		return nil, errLocked
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(h), full), nil
}

// freeSpace is not known; a full disk is still seen when it is full.
func freeSpace(string) (uint64, error) { return math.MaxUint64, nil }
