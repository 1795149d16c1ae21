package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNotRegular is the error for a folder, a pipe or a device in place of a file.
var ErrNotRegular = errors.New("not a regular file")

// ReadFile reads a regular file of at most limit bytes, and returns its info. The file is opened once, without waiting for the other
// end of a pipe, and the limit counts what is read: the size of a file of /proc is 0.
func ReadFile(name string, limit int64) ([]byte, fs.FileInfo, error) {
	return readOpen(limit, func() (*os.File, error) { return os.OpenFile(name, os.O_RDONLY|nonBlocking, 0) })
}

// ReadIn is [ReadFile] for a file below root, which no link of its path leaves.
func ReadIn(root *os.Root, name string, limit int64) ([]byte, fs.FileInfo, error) {
	return readOpen(limit, func() (*os.File, error) { return root.OpenFile(name, os.O_RDONLY|nonBlocking, 0) })
}

func readOpen(limit int64, open func() (*os.File, error)) ([]byte, fs.FileInfo, error) {
	f, err := open()
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, info, &fs.PathError{Op: "read", Path: f.Name(), Err: ErrNotRegular}
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = &fs.PathError{Op: "read", Path: f.Name(), Err: fmt.Errorf("larger than %d KiB", limit>>10)}
	}
	return data, info, err
}
