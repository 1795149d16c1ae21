package crashfs

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"
	"time"
)

// Create creates a file for appending. It fails if the file exists.
func (f *FS) Create(name string, mode fs.FileMode) (file *File, err error) {
	err = f.do(OpCreate, name, func() error {
		folder, base, err := f.parent(OpCreate, name)
		if err != nil {
			return err
		}
		if folder.entries[base] != nil {
			return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
		}
		n := &node{mode: mode, modified: time.Now()}
		f.rename(rename{folder, base, n})
		file = f.handle(n, name)
		return nil
	})
	return file, err
}

// OpenAppend opens a file for appending at its end.
func (f *FS) OpenAppend(name string) (file *File, err error) {
	err = f.do(OpOpen, name, func() error {
		n, err := f.lookup(OpOpen, name)
		if err != nil {
			return err
		}
		if n.isFolder() {
			return &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
		}
		file = f.handle(n, name)
		return nil
	})
	return file, err
}

// Rename renames a file and replaces an existing one. The change is durable after SyncDir.
func (f *FS) Rename(from, to string) error {
	return f.do(OpRename, from, func() error {
		source, sourceName, err := f.parent(OpRename, from)
		if err != nil {
			return err
		}
		target, targetName, err := f.parent(OpRename, to)
		if err != nil {
			return err
		}
		n := source.entries[sourceName]
		if n == nil {
			return notExist(OpRename, from)
		}
		f.rename(rename{source, sourceName, nil}, rename{target, targetName, n})
		return nil
	})
}

// Remove removes a file or an empty folder. The change is durable after SyncDir.
func (f *FS) Remove(name string) error {
	return f.do(OpRemove, name, func() error {
		n, err := f.lookup(OpRemove, name)
		if err != nil {
			return err
		}
		if n.isFolder() && len(n.entries) > 0 {
			return &fs.PathError{Op: "remove", Path: name, Err: syscall.ENOTEMPTY}
		}
		folder, base, err := f.parent(OpRemove, name)
		if err == nil {
			f.rename(rename{folder, base, nil})
		}
		return err
	})
}

// MkdirAll creates a folder and its parents. Each is durable after SyncDir of its parent.
func (f *FS) MkdirAll(name string, mode fs.FileMode) error {
	return f.do(OpMkdir, name, func() error {
		folder := f.root
		for base := range strings.SplitSeq(path.Clean(name), "/") {
			if base == "." {
				continue
			}
			if folder.entries[base] == nil {
				f.rename(rename{folder, base, newFolder(mode)})
			}
			if folder = folder.entries[base]; !folder.isFolder() {
				return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.ENOTDIR}
			}
		}
		return nil
	})
}

// SyncDir makes the names in a folder durable.
func (f *FS) SyncDir(dir string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.done(OpSyncDir)
	fault, err := f.begin(OpSyncDir, dir)
	folder, missing := f.folder(OpSyncDir, dir)
	switch {
	case fault.Concerns(OpSync) && missing == nil:
		f.failNames(folder)
		return err
	case err != nil:
		return err
	case missing != nil:
		return missing
	}
	f.syncNames(folder)
	return nil
}

// Watch remembers the file with this name. The returned function returns the size of the file, or an error if the
// name leads to another file or does not exist.
func (f *FS) Watch(name string) (func() (int64, error), error) {
	look := func() (n *node, size int64, err error) {
		err = f.do(OpStat, name, func() error {
			n, err = f.lookup(OpStat, name)
			if err == nil {
				size = int64(len(n.data))
			}
			return err
		})
		return n, size, err
	}
	first, _, err := look()
	if err != nil {
		return nil, err
	}
	return func() (int64, error) {
		now, size, err := look()
		if err == nil && now != first {
			err = &fs.PathError{Op: string(OpStat), Path: name, Err: errors.New("another file has the name")}
		}
		return size, err
	}, nil
}

// Reopen does nothing: the file system itself cannot be moved.
func (f *FS) Reopen() (bool, error) { return false, nil }

// Close does nothing: the file system needs no cleanup.
func (f *FS) Close() error { return nil }

// Lock acquires the lock of a file, which it creates if needed, and writes the note into it. It returns [ErrLocked]
// without waiting if the lock is held. As with flock the lock belongs to the file, not to its name: a file that
// replaces it is not locked.
func (f *FS) Lock(name string, note []byte) (release func() error, err error) {
	err = f.do(OpLock, name, func() error {
		folder, base, err := f.parent(OpLock, name)
		if err != nil {
			return err
		}
		n := folder.entries[base]
		if n == nil {
			n = &node{mode: 0o600}
			f.rename(rename{folder, base, n})
		}
		if n.locked {
			return ErrLocked
		}
		n.truncate(0)
		if f.free() < int64(len(note)) {
			return &fs.PathError{Op: "write", Path: name, Err: syscall.ENOSPC}
		}
		n.append(note)
		n.modified = time.Now()
		n.locked = true
		f.open++
		release = func() error { return f.unlock(n, name) }
		return nil
	})
	return release, err
}

func (f *FS) unlock(n *node, name string) error {
	return f.do(OpClose, name, func() error {
		if !n.locked {
			f.violated("lock %s was released twice", name)
			return fs.ErrClosed
		}
		n.locked = false
		f.open--
		return nil
	})
}
