package crashfs

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Create creates a file for appending. It fails if the file exists.
func (f *FS) Create(name string, mode fs.FileMode) (*File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.create(name, mode)
}

func (f *FS) create(name string, mode fs.FileMode) (*File, error) {
	defer f.done(OpCreate)
	if _, err := f.begin(OpCreate, name); err != nil {
		return nil, err
	}
	folder, base, err := f.parent(OpCreate, name)
	if err != nil {
		return nil, err
	}
	if folder.entries[base] != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	n := &node{mode: mode, modified: time.Now()}
	f.rename(rename{folder, base, n})
	return f.handle(n, name), nil
}

// OpenAppend opens a file for appending at its end.
func (f *FS) OpenAppend(name string) (*File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.done(OpOpen)
	if _, err := f.begin(OpOpen, name); err != nil {
		return nil, err
	}
	n, err := f.file(OpOpen, name)
	if err != nil {
		return nil, err
	}
	return f.handle(n, name), nil
}

// ReadAt reads as an [io.ReaderAt] does.
func (f *FS) ReadAt(name string, p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.done(OpRead)
	if _, err := f.begin(OpRead, name); err != nil {
		return 0, err
	}
	n, err := f.file(OpRead, name)
	if err != nil {
		return 0, err
	}
	if off < 0 || off > int64(len(n.data)) {
		return 0, io.EOF
	}
	read := copy(p, n.data[off:])
	if read < len(p) {
		return read, io.EOF
	}
	return read, nil
}

// Stat returns a file's size and the time of its last write.
func (f *FS) Stat(name string) (int64, time.Time, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.done(OpStat)
	if _, err := f.begin(OpStat, name); err != nil {
		return 0, time.Time{}, err
	}
	n := f.lookup(name)
	if n == nil {
		return 0, time.Time{}, notExist(OpStat, name)
	}
	return int64(len(n.data)), n.modified, nil
}

// WriteFile replaces a small file atomically: it writes and syncs a temporary file, renames it and syncs the folder.
// Each step is a separate operation.
func (f *FS) WriteFile(name string, data []byte, mode fs.FileMode) error {
	aside := name + ".new"
	if err := f.Remove(aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := f.Create(aside, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := f.Rename(aside, name); err != nil {
		return err
	}
	return f.SyncDir(path.Dir(name))
}

// Rename renames a file and replaces an existing one. The change is durable after SyncDir.
func (f *FS) Rename(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.done(OpRename)
	if _, err := f.begin(OpRename, from); err != nil {
		return err
	}
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
}

// Remove removes a file or an empty folder. The change is durable after SyncDir.
func (f *FS) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.done(OpRemove)
	if _, err := f.begin(OpRemove, name); err != nil {
		return err
	}
	folder, base, err := f.parent(OpRemove, name)
	if err != nil {
		return err
	}
	n := folder.entries[base]
	switch {
	case n == nil:
		return notExist(OpRemove, name)
	case n.isFolder() && len(n.entries) > 0:
		return &fs.PathError{Op: "remove", Path: name, Err: syscall.ENOTEMPTY}
	}
	f.rename(rename{folder, base, nil})
	return nil
}

// MkdirAll creates a folder and its parents. Each is durable after SyncDir of its parent.
func (f *FS) MkdirAll(name string, mode fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.done(OpMkdir)
	if _, err := f.begin(OpMkdir, name); err != nil {
		return err
	}
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
}

// List returns the names in a folder, sorted; names of folders end in a slash.
func (f *FS) List(dir string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.done(OpList)
	if _, err := f.begin(OpList, dir); err != nil {
		return nil, err
	}
	folder, err := f.folder(OpList, dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(folder.entries))
	for name, n := range folder.entries {
		if n.isFolder() {
			name += "/"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
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
	first, err := f.find(name)
	if err != nil {
		return nil, err
	}
	return func() (int64, error) {
		now, err := f.find(name)
		if err != nil {
			return 0, err
		}
		if now != first {
			return 0, &fs.PathError{Op: string(OpStat), Path: name, Err: errors.New("another file has the name")}
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		return int64(len(now.data)), nil
	}, nil
}

func (f *FS) find(name string) (*node, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.done(OpStat)
	if _, err := f.begin(OpStat, name); err != nil {
		return nil, err
	}
	n := f.lookup(name)
	if n == nil {
		return nil, notExist(OpStat, name)
	}
	return n, nil
}

// Reopen does nothing: the file system itself cannot be moved.
func (f *FS) Reopen() (bool, error) { return false, nil }

// Free returns the number of bytes that can still be written.
func (f *FS) Free() (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.done(OpFree)
	if _, err := f.begin(OpFree, "."); err != nil {
		return 0, err
	}
	return uint64(max(f.free(), 0)), nil //nolint:gosec // not negative
}

// Close does nothing: the file system needs no cleanup.
func (f *FS) Close() error { return nil }
