package crashfs

import (
	"io/fs"
	"syscall"
	"time"
)

// File is a file that is open for appending.
type File struct {
	fs     *FS
	node   *node
	name   string
	closed bool
}

func (f *FS) handle(n *node, name string) *File {
	f.open++
	return &File{fs: f, node: n, name: name}
}

// Write appends. If it writes fewer bytes than given it returns an error.
func (h *File) Write(p []byte) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	defer h.fs.done(OpWrite)
	h.check(OpWrite)
	fault, err := h.fs.begin(OpWrite, h.name)
	if h.closed {
		return 0, fs.ErrClosed
	}
	switch {
	case err == nil:
		return h.append(p)
	case fault == FaultEIO:
		return 0, err
	default: // the first half is written
		h.node.append(p[:len(p)/2])
		return len(p) / 2, err
	}
}

// append writes as many bytes as fit within the limit.
func (h *File) append(p []byte) (int, error) {
	n := h.node
	if h.fs.limit > 0 {
		free := h.fs.free() + n.space() - int64(len(n.data))
		if int64(len(p)) > free {
			p = p[:max(free, 0)]
			n.append(p)
			return len(p), &fs.PathError{Op: "write", Path: h.name, Err: syscall.ENOSPC}
		}
	}
	n.append(p)
	n.modified = time.Now()
	return len(p), nil
}

// Sync makes all written bytes durable. If it fails, the unsynced sectors are marked lying.
func (h *File) Sync() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	defer h.fs.done(OpSync)
	h.check(OpSync)
	_, err := h.fs.begin(OpSync, h.name)
	switch {
	case h.closed:
		return fs.ErrClosed
	case err != nil:
		h.node.failSync()
		return err
	}
	h.node.sync()
	return nil
}

// Truncate changes the size, which is durable after Sync.
func (h *File) Truncate(size int64) error {
	return h.do(OpTruncate, func() error {
		h.node.truncate(int(size))
		h.node.modified = time.Now()
		return nil
	})
}

// do runs one operation on a file that is not closed.
func (h *File) do(op Op, run func() error) error {
	return h.fs.do(op, h.name, func() error {
		if h.closed {
			return fs.ErrClosed
		}
		return run()
	})
}

// Reserve allocates space after the end without changing the visible size.
func (h *File) Reserve(bytes int64) error {
	return h.do(OpReserve, func() error {
		end := int64(len(h.node.data)) + bytes
		if end > h.node.reserved && h.fs.free() < end-h.node.space() {
			return &fs.PathError{Op: "fallocate", Path: h.name, Err: syscall.ENOSPC}
		}
		h.node.reserved = max(h.node.reserved, end)
		return nil
	})
}

// Trim releases the space after the end.
func (h *File) Trim() error {
	h.fs.mu.Lock()
	size := len(h.node.data)
	h.fs.mu.Unlock()
	return h.Truncate(int64(size))
}

// Close closes the file.
func (h *File) Close() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	defer h.fs.done(OpClose)
	_, err := h.fs.begin(OpClose, h.name)
	if h.closed {
		h.fs.violated("%s was closed twice", h.name)
		return fs.ErrClosed
	}
	h.closed = true
	h.fs.open--
	return err
}

// check records the use of a file that is closed, or whose content on the disk is unknown because a Sync failed.
func (h *File) check(op Op) {
	switch {
	case h.closed:
		h.fs.violated("%s of %s, which is closed", op, h.name)
	case h.node.poisoned():
		h.fs.violated("%s of %s, of which a sync has failed", op, h.name)
	}
}
