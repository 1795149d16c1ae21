package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// IsFull reports whether err says that there is no room.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, errQuota) }

// Remove deletes a file that may not be there.
func Remove(s Storage, name string) error {
	if err := s.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ReadSmall reads a whole file that is expected to be small and refuses one that is not.
func ReadSmall(s Storage, name string, limit int64) ([]byte, error) {
	size, _, err := s.Stat(name)
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", name, size, limit)
	}
	b := make([]byte, size)
	if size == 0 {
		return b, nil
	}
	n, err := s.ReadAt(name, b, 0)
	if int64(n) == size {
		return b, nil
	}
	return nil, fmt.Errorf("reading %s: %w", name, err)
}

// Reader reads a file from its beginning.
type Reader struct {
	Storage Storage
	Name    string
	Off     int64
}

func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.Storage.ReadAt(r.Name, p, r.Off)
	r.Off += int64(n)
	if n > 0 {
		return n, nil // what went wrong comes again
	}
	return 0, err
}
