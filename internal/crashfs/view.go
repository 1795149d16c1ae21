package crashfs

import (
	"bytes"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// View returns the file system for reading, as other processes see it. Its operations are not counted and never fail.
func (f *FS) View() fs.FS { return view{f} }

type view struct{ f *FS }

// Open returns the content as it is now. What is written later is not seen by who has opened it.
func (v view) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	v.f.mu.Lock()
	defer v.f.mu.Unlock()
	n := v.f.lookup(name)
	if n == nil {
		return nil, notExist(OpOpen, name)
	}
	at := stat(name[strings.LastIndexByte(name, '/')+1:], n)
	if !n.isFolder() {
		return &viewFile{Reader: bytes.NewReader(n.data[:len(n.data):len(n.data)]), info: at}, nil
	}
	items := make([]fs.DirEntry, 0, len(n.entries))
	for base, child := range n.entries {
		items = append(items, fs.FileInfoToDirEntry(stat(base, child)))
	}
	slices.SortFunc(items, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return &viewFolder{items: items, info: at}, nil
}

// info is what a node was like when it was looked at.
type info struct {
	name     string
	size     int64
	mode     fs.FileMode
	modified time.Time
}

func stat(name string, n *node) info {
	return info{name: name, size: int64(len(n.data)), mode: n.mode, modified: n.modified}
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.modified }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }

// viewFile is an open file. It can also be read at any place.
type viewFile struct {
	*bytes.Reader
	info info
}

func (h *viewFile) Stat() (fs.FileInfo, error) { return h.info, nil }
func (h *viewFile) Close() error               { return nil }

// viewFolder is an open folder.
type viewFolder struct {
	items []fs.DirEntry
	info  info
}

func (h *viewFolder) Stat() (fs.FileInfo, error) { return h.info, nil }
func (h *viewFolder) Close() error               { return nil }

func (h *viewFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: h.info.name, Err: fs.ErrInvalid}
}

func (h *viewFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		items := h.items
		h.items = nil
		return items, nil
	}
	if len(h.items) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(h.items))
	items := h.items[:n]
	h.items = h.items[n:]
	return items, nil
}
