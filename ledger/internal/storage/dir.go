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

// Dir is the real one. Everything goes through an os.Root, so that a link planted in the folder cannot lead out of it.
type Dir struct {
	dir  string // absolute
	held atomic.Pointer[os.Root]
}

func (s *Dir) root() *os.Root { return s.held.Load() }

// Open makes the folder if it is not there and opens it.
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

// Reopen compares the folder at the path with the one that is held: an open folder follows its files when it is moved, and outlives its name.
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

// Watch compares what the path leads to with the file that has the name in the folder that is held.
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

// makeFolder makes a folder and those above it, durably: what is in a folder is lost with its name.
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
			return nil // another process was quicker
		}
		return err
	}
	f, err := os.Open(above)
	if err != nil {
		return err
	}
	return errors.Join(syncFolder(f), f.Close())
}

// Exposed reports whether others may look into a folder that was there before. What is in it is made for its owner only, so this is worth a
// warning and not a refusal. Where modes mean nothing nobody is warned.
func (s *Dir) Exposed() bool {
	info, err := s.root().Stat(".")
	return err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}

// Close gives the folder back.
func (s *Dir) Close() error { return s.root().Close() }

// Create refuses a name that is there: nothing is ever written over.
func (s *Dir) Create(name string, mode fs.FileMode) (File, error) {
	return s.open(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, mode)
}

// OpenAppend opens for appending, wherever the end is at that moment.
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

// ReadAt opens, reads and closes, so that a reader holds no descriptors.
func (s *Dir) ReadAt(name string, p []byte, off int64) (int, error) {
	f, err := s.root().Open(name)
	if err != nil {
		return 0, err
	}
	n, err := f.ReadAt(p, off)
	if closed := f.Close(); closed != nil {
		err = errors.Join(err, closed)
	}
	return n, err // io.EOF as it is: package io compares it with ==
}

// Stat follows no links.
func (s *Dir) Stat(name string) (int64, time.Time, error) {
	info, err := s.root().Lstat(name)
	if err != nil {
		return 0, time.Time{}, err
	}
	return info.Size(), info.ModTime(), nil
}

// WriteFile leaves either what was there or the new file, whole.
func (s *Dir) WriteFile(name string, data []byte, mode fs.FileMode) error {
	aside := name + ".new"
	if err := s.Remove(aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.writeAside(aside, data, mode); err != nil {
		return err
	}
	if err := s.Rename(aside, name); err != nil { // what was there before stays whole until here
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

// Rename stays within the folder.
func (s *Dir) Rename(from, to string) error { return s.root().Rename(from, to) }

// Remove removes a file or an empty folder.
func (s *Dir) Remove(name string) error { return s.root().Remove(name) }

// MkdirAll makes a folder and those above it.
func (s *Dir) MkdirAll(name string, mode fs.FileMode) error {
	return s.root().MkdirAll(name, mode)
}

// List sorts, so that two runs see the same order.
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

// Lock locks a file for as long as it is held open.
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
	return f.Close, nil // closing gives the lock back
}

// Free asks about the file system that holds the folder.
func (s *Dir) Free() (uint64, error) { return freeSpace(s.dir) }

func writeAll(w io.Writer, b []byte) error {
	_, err := w.Write(b)
	return err
}

// osFile is a file of the operating system.
type osFile struct{ f *os.File }

// Write appends: the file was opened so.
func (f osFile) Write(p []byte) (int, error) { return f.f.Write(p) }

// Sync is fdatasync where there is one.
func (f osFile) Sync() error { return durable.SyncData(f.f) }

// Truncate moves the end. What is appended next follows there.
func (f osFile) Truncate(size int64) error { return f.f.Truncate(size) }

// Trim truncates to the size that the file has, which frees what was reserved behind it.
func (f osFile) Trim() error {
	info, err := f.f.Stat()
	if err != nil {
		return err
	}
	return f.f.Truncate(info.Size())
}

// Close closes.
func (f osFile) Close() error { return f.f.Close() }

// Reserve is fallocate where there is one.
func (f osFile) Reserve(bytes int64) error {
	info, err := f.f.Stat()
	if err != nil {
		return err
	}
	return reserveSpace(f.f, info.Size(), bytes)
}
