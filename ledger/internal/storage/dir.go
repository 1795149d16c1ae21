package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

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
	if err := makeFolder(s.dir); err != nil {
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

// makeFolder creates a folder and its parents durably. If the name of a folder is not durable, its content is not
// either.
func makeFolder(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	above := filepath.Dir(dir)
	if above != dir {
		if err := makeFolder(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		if info, other := os.Stat(dir); other == nil && info.IsDir() {
			return nil // another process created it first
		}
		return err
	}
	f, err := os.Open(above)
	if err != nil {
		return err
	}
	return errors.Join(syncFolder(f), f.Close())
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
	return s.open(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, mode)
}

// OpenAppend opens a file for appending at its current end.
func (s *Dir) OpenAppend(name string) (File, error) {
	return s.open(name, os.O_WRONLY|os.O_APPEND, 0)
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

// ReadAt opens, reads and closes the file, so that readers hold no descriptors.
func (s *Dir) ReadAt(name string, p []byte, off int64) (int, error) {
	f, err := s.root().Open(name)
	if err != nil {
		return 0, err
	}
	n, err := f.ReadAt(p, off)
	if closed := f.Close(); closed != nil {
		err = errors.Join(err, closed)
	}
	return n, err // io.EOF unwrapped, because package io compares it with ==
}

// Stat does not follow links.
func (s *Dir) Stat(name string) (int64, time.Time, error) {
	info, err := s.root().Lstat(name)
	if err != nil {
		return 0, time.Time{}, err
	}
	return info.Size(), info.ModTime(), nil
}

// WriteFile replaces a file atomically: after a crash either the old file or the complete new one exists.
func (s *Dir) WriteFile(name string, data []byte, mode fs.FileMode) error {
	aside := name + ".new"
	if err := s.Remove(aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.writeAside(aside, data, mode); err != nil {
		return err
	}
	if err := s.Rename(aside, name); err != nil { // until here the old file is unchanged
		return err
	}
	return s.SyncDir(path.Dir(name))
}

func (s *Dir) writeAside(name string, data []byte, mode fs.FileMode) error {
	f, err := s.Create(name, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Rename renames a file within the folder.
func (s *Dir) Rename(from, to string) error { return s.root().Rename(from, to) }

// Remove removes a file or an empty folder.
func (s *Dir) Remove(name string) error { return s.root().Remove(name) }

// MkdirAll creates a folder and its parents.
func (s *Dir) MkdirAll(name string, mode fs.FileMode) error {
	return s.root().MkdirAll(name, mode)
}

// List returns the names sorted, so that their order is reproducible.
func (s *Dir) List(dir string) ([]string, error) {
	f, err := s.root().Open(dir)
	if err != nil {
		return nil, err
	}
	entries, err := f.ReadDir(-1)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	return names, errors.Join(err, f.Close())
}

// SyncDir makes the names in a folder durable.
func (s *Dir) SyncDir(dir string) error {
	f, err := s.root().Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(syncFolder(f), f.Close())
}

// Lock locks a file until release closes it.
func (s *Dir) Lock(name string, note []byte) (func() error, error) {
	f, err := filelock.Open(s.root(), name)
	if errors.Is(err, filelock.ErrLocked) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.Truncate(0), writeAll(f, note)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil // closing the file releases the lock
}

// Free returns the free space of the file system that holds the folder.
func (s *Dir) Free() (uint64, error) { return freeSpace(s.dir) }

func writeAll(w io.Writer, b []byte) error {
	_, err := w.Write(b)
	return err
}

// osFile is a file of the operating system.
type osFile struct{ f *os.File }

// Write appends, because the file was opened with O_APPEND.
func (f osFile) Write(p []byte) (int, error) { return f.f.Write(p) }

// Sync calls fdatasync where it exists.
func (f osFile) Sync() error { return durable.SyncData(f.f) }

// Truncate changes the size. The next write appends at the new end.
func (f osFile) Truncate(size int64) error { return f.f.Truncate(size) }

// Trim truncates the file to its current size, which frees the reserved space after it.
func (f osFile) Trim() error {
	info, err := f.f.Stat()
	if err != nil {
		return err
	}
	return f.f.Truncate(info.Size())
}

// Close closes the file.
func (f osFile) Close() error { return f.f.Close() }

// Reserve calls fallocate where it exists.
func (f osFile) Reserve(bytes int64) error {
	info, err := f.f.Stat()
	if err != nil {
		return err
	}
	return reserveSpace(f.f, info.Size(), bytes)
}
