package crashfs

import (
	"io/fs"
	"path"
	"testing/fstest"
)

// View returns a read-only file system, as other processes see it. Its operations are not counted and never fail
// because of a fault.
func (f *FS) View() fs.FS { return view{f} }

type view struct{ f *FS }

// Open returns the current content. Later writes are not visible through the returned file.
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
	shown := fstest.MapFS{name: shownAs(n)}
	for base, child := range n.entries {
		shown[path.Join(name, base)] = shownAs(child)
	}
	return shown.Open(name)
}

func shownAs(n *node) *fstest.MapFile {
	return &fstest.MapFile{Data: n.data[:len(n.data):len(n.data)], Mode: n.mode, ModTime: n.modified}
}
