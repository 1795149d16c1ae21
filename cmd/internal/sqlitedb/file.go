package sqlitedb

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The errors of [CheckFile].
var (
	ErrNotRegular  = errors.New("not a regular file")
	ErrNotDatabase = errors.New("not an SQLite database")
	ErrNoAccess    = errors.New("the file or its folder cannot be used")
)

// header is the first 16 bytes of every database that is not empty.
const header = "SQLite format 3\x00"

// CheckFile reports whether a file can be a database: it is one, is empty, or does not exist. It reads only the beginning.
func CheckFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return ErrNoAccess
	case !info.Mode().IsRegular():
		return ErrNotRegular
	case info.Size() == 0:
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return ErrNoAccess
	}
	defer f.Close() //nolint:errcheck // it is only read
	var begin [len(header)]byte
	if _, err := io.ReadFull(f, begin[:]); err != nil || string(begin[:]) != header {
		return ErrNotDatabase
	}
	return nil
}

// Create creates a file and its folder for their owner only, unless they exist. The journal that SQLite puts beside it gets its mode; the
// file -shm, which holds numbers of pages and no data, does not.
func Create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
