// Package scratch creates temporary directories that can be found and removed after the process that used them was
// killed.
//
// A directory contains a lock file. Its lock is held by the process that created the directory, and by the guard of a
// command that works in it, so that a directory whose lock is free is unused.
package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/candor-mcp/candor/internal/filelock"
)

// lockName is the name of the lock file in each directory.
const lockName = "in-use"

// unlockedAge is the age from which a directory without a lock file is removed: a process creates the directory before
// the file.
const unlockedAge = time.Hour

// Dir is a temporary directory.
type Dir struct {
	Path string
	Lock *os.File // nil where the system has no file locks
}

// New creates a directory below root that only this user can access. Its name is prefix with a random number.
func New(root, prefix string) (*Dir, error) {
	for attempt := 0; ; attempt++ {
		path, err := os.MkdirTemp(root, prefix+"*")
		if err != nil {
			return nil, err
		}
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			path = resolved
		}
		lock, err := acquire(path)
		switch {
		case err == nil:
			return &Dir{path, lock}, nil
		case errors.Is(err, errors.ErrUnsupported):
			return &Dir{path, nil}, nil
		}
		_ = os.RemoveAll(path)
		if attempt == 3 || !errors.Is(err, filelock.ErrLocked) && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		// Another process removed the directory between the creation of the lock file and its locking.
	}
}

// acquire takes the lock of a directory and checks that the directory was not removed meanwhile.
func acquire(path string) (*os.File, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	lock, err := filelock.Open(root, lockName)
	if err != nil {
		return nil, err
	}
	if _, err := root.Lstat(lockName); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// Held returns the files that a guard must keep open, so that the directory counts as used until the guard has ended.
func (d *Dir) Held() []*os.File {
	if d.Lock == nil {
		return nil
	}
	return []*os.File{d.Lock}
}

// Remove removes the directory and releases its lock.
func (d *Dir) Remove() {
	removeAll(d.Path)
	if d.Lock != nil {
		_ = d.Lock.Close()
	}
}

// Sweep removes the unused directories below root that [New] has created with prefix.
func Sweep(root, prefix string) {
	all, err := filepath.Glob(filepath.Join(root, prefix+"*"))
	if err != nil {
		return
	}
	for _, path := range all {
		number := strings.TrimPrefix(filepath.Base(path), prefix)
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || info.Mode() != fs.ModeDir|0o700 && runtime.GOOS != "windows" || // which has no such permissions
			strings.Trim(number, "0123456789") != "" {
			continue
		}
		if _, err := os.Lstat(filepath.Join(path, lockName)); err != nil {
			if errors.Is(err, fs.ErrNotExist) && time.Since(info.ModTime()) > unlockedAge {
				removeAll(path)
			}
			continue
		}
		lock, err := acquire(path)
		if err != nil {
			continue
		}
		removeAll(path)
		_ = lock.Close()
	}
}

// removeAll removes a directory, even if directories in it have no permissions.
func removeAll(path string) {
	if os.RemoveAll(path) == nil {
		return
	}
	_ = filepath.WalkDir(path, func(path string, entry fs.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // folders need the x bit; it is about to be removed
		}
		return nil
	})
	_ = os.RemoveAll(path)
}
