package crashfs

import (
	"io/fs"
	"path"
	"testing/fstest"
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
	shown := fstest.MapFS{name: shownAs(n)}
	for base, child := range n.entries {
		shown[path.Join(name, base)] = shownAs(child)
	}
	return shown.Open(name)
}

func shownAs(n *node) *fstest.MapFile {
	return &fstest.MapFile{Data: n.data[:len(n.data):len(n.data)], Mode: n.mode, ModTime: n.modified}
}
