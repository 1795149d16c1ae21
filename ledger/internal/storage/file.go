package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// IsFull reports whether err means that the disk or the quota is full.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, errQuota) }

// Remove removes a file that may not exist.
func Remove(s Storage, name string) error {
	if err := s.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ReadSmall reads a whole file. It returns an error if the file is larger than limit.
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

// Reader reads a file sequentially, starting at Off.
type Reader struct {
	Storage Storage
	Name    string
	Off     int64
}

func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.Storage.ReadAt(r.Name, p, r.Off)
	r.Off += int64(n)
	if n > 0 {
		return n, nil // the next Read returns the error again
	}
	return 0, err
}
