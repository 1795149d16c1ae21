package crashfs

import (
	"io/fs"
	"syscall"
	"time"
)

// Lock acquires the lock of a file, which it creates if needed, and writes the note into it. It returns [ErrLocked]
// without waiting if the lock is held. As with flock the lock belongs to the file, not to its name: a file that
// replaces it is not locked.
func (f *FS) Lock(name string, note []byte) (release func() error, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.done(OpLock)
	if _, err := f.begin(OpLock, name); err != nil {
		return nil, err
	}
	folder, base, err := f.parent(OpLock, name)
	if err != nil {
		return nil, err
	}
	n := folder.entries[base]
	if n == nil {
		n = &node{mode: 0o600}
		f.rename(rename{folder, base, n})
	}
	if n.locked {
		return nil, ErrLocked
	}
	n.truncate(0)
	if f.free() < int64(len(note)) {
		return nil, &fs.PathError{Op: "write", Path: name, Err: syscall.ENOSPC}
	}
	n.append(note)
	n.modified = time.Now()
	n.locked = true
	f.open++
	return func() error { return f.unlock(n, name) }, nil
}

func (f *FS) unlock(n *node, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.done(OpClose)
	if _, err := f.begin(OpClose, name); err != nil {
		return err
	}
	if !n.locked {
		f.violated("lock %s was released twice", name)
		return fs.ErrClosed
	}
	n.locked = false
	f.open--
	return nil
}
