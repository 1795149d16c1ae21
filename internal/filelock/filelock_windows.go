package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// Open opens a file below root for writing. Until it is closed, others can open the file only for reading.
func Open(root *os.Root, name string) (*os.File, error) {
	full := filepath.Join(root.Name(), filepath.FromSlash(name))
	p, err := syscall.UTF16PtrFromString(full)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(p, syscall.GENERIC_READ|syscall.GENERIC_WRITE, syscall.FILE_SHARE_READ, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	const sharingViolation = syscall.Errno(32)
	if errors.Is(err, sharingViolation) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(h), full), nil
}

// TryLock fails: an open file cannot be locked on this system.
func TryLock(*os.File) error { return errors.ErrUnsupported }
