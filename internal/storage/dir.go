package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/filelock"
)

// Dir is the [Storage] of the operating system. It uses an os.Root, so that a link in the folder cannot lead out of
// it.
type Dir struct {
	dir  string // absolute
	held atomic.Pointer[os.Root]
}

func (s *Dir) root() *os.Root { return s.held.Load() }

// Open opens a folder and creates it if it does not exist.
func Open(dir string) (*Dir, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("finding the folder: %w", err)
	}
	s := &Dir{dir: dir}
	root, err := s.openFolder()
	if err != nil {
		return nil, err
	}
	s.held.Store(root)
	return s, nil
}

func (s *Dir) openFolder() (*os.Root, error) {
	if err := durable.MkdirAll(s.dir); err != nil {
		return nil, fmt.Errorf("making the folder: %w", err)
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, fmt.Errorf("opening the folder: %w", err)
	}
	return root, nil
}

// Reopen compares the folder at the path with the open one: an open folder stays the same when it is moved or
// removed.
func (s *Dir) Reopen() (moved bool, err error) {
	old := s.root()
	held, err := old.Stat(".")
	if err != nil {
		return false, err
	}
	if now, err := os.Stat(s.dir); err == nil && os.SameFile(held, now) {
		return false, nil
	}
	root, err := s.openFolder()
	if err != nil {
		return false, err
	}
	s.held.Store(root)
	return true, old.Close()
}

// Watch remembers the file with this name in the open folder. The watch compares it with the file at the path.
func (s *Dir) Watch(name string) (Watch, error) {
	first, err := s.root().Lstat(name)
	if err != nil {
		return nil, err
	}
	full := filepath.Join(s.dir, filepath.FromSlash(name))
	return func() (int64, error) {
		now, err := os.Lstat(full)
		if err != nil {
			return 0, err
		}
		if !os.SameFile(first, now) {
			return 0, &fs.PathError{Op: "stat", Path: full, Err: ErrReplaced}
		}
		return now.Size(), nil
	}, nil
}

// Exposed reports whether other users may read the folder. The files in it are created for the owner only, so this is
// only worth a warning. On Windows, where modes do not show it, Exposed returns false.
func (s *Dir) Exposed() bool {
	info, err := s.root().Stat(".")
	return err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}

// Close closes the folder.
func (s *Dir) Close() error { return s.root().Close() }

// Create fails if the file exists: existing files are never overwritten.
func (s *Dir) Create(name string, mode fs.FileMode) (File, error) {
	return s.open(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|appendFlag, mode)
}

// OpenAppend opens a file for appending at its current end.
func (s *Dir) OpenAppend(name string) (File, error) {
	return s.open(name, os.O_WRONLY|appendFlag, 0)
}

func (s *Dir) open(name string, flag int, mode fs.FileMode) (File, error) {
	f, err := s.root().OpenFile(name, flag|nonBlocking, mode)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return osFile{f}, nil
}

// Files returns the folder for reading.
func (s *Dir) Files() fs.FS { return s.root().FS() }

// Rename renames a file within the folder.
func (s *Dir) Rename(from, to string) error { return s.root().Rename(from, to) }

// Remove removes a file or an empty folder.
func (s *Dir) Remove(name string) error { return s.root().Remove(name) }

// MkdirAll creates a folder and its parents.
func (s *Dir) MkdirAll(name string, mode fs.FileMode) error {
	return s.root().MkdirAll(name, mode)
}

// SyncDir makes the names in a folder durable.
func (s *Dir) SyncDir(dir string) error { return durable.SyncDir(s.root(), dir) }

// Lock locks a file until release closes it.
func (s *Dir) Lock(name string, note []byte) (func() error, error) {
	f, err := filelock.Open(s.root(), name)
	if err != nil {
		return nil, err
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.Write(note)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil // closing the file releases the lock
}

// osFile is a file of the operating system that is opened for appending.
type osFile struct{ *os.File }

// Sync calls fdatasync where it exists.
func (f osFile) Sync() error { return durable.SyncData(f.File) }

// Trim truncates the file to its current size, which frees the reserved space after it.
func (f osFile) Trim() error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return f.Truncate(info.Size())
}

// Reserve calls fallocate where it exists.
func (f osFile) Reserve(bytes int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return reserveSpace(f.File, info.Size(), bytes)
}
