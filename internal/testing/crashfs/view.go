package crashfs

import (
	"io/fs"
	"path"
	"testing/fstest"
)

// View returns a read-only file system, as other processes see it. Its operations are not counted and never fail
// because of a fault.
func (f *FS) View() fs.FS {
	return view{f, func(_ Op, _ string, run func() error) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		return run()
	}}
}

// Files returns a read-only file system whose operations are counted and can fail.
func (f *FS) Files() fs.FS { return view{f, f.do} }

type view struct {
	f  *FS
	do func(op Op, name string, run func() error) error
}

// show returns a file system with the node of this name and, if it is a folder, the names in it. Later writes are not
// visible in it.
func (v view) show(op Op, name string) (shown fstest.MapFS, err error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: string(op), Path: name, Err: fs.ErrInvalid}
	}
	err = v.do(op, name, func() error {
		n, err := v.f.lookup(op, name)
		if err != nil {
			return err
		}
		shown = fstest.MapFS{name: shownAs(n)}
		for base, child := range n.entries {
			shown[path.Join(name, base)] = shownAs(child)
		}
		return nil
	})
	return shown, err
}

// Open implements [fs.FS].
func (v view) Open(name string) (fs.File, error) {
	shown, err := v.show(OpRead, name)
	if err != nil {
		return nil, err
	}
	return shown.Open(name)
}

// Stat implements [fs.StatFS].
func (v view) Stat(name string) (fs.FileInfo, error) {
	shown, err := v.show(OpStat, name)
	if err != nil {
		return nil, err
	}
	return shown.Stat(name)
}

// ReadDir implements [fs.ReadDirFS].
func (v view) ReadDir(name string) ([]fs.DirEntry, error) {
	shown, err := v.show(OpList, name)
	if err != nil {
		return nil, err
	}
	return shown.ReadDir(name)
}

func shownAs(n *node) *fstest.MapFile {
	return &fstest.MapFile{Data: n.data[:len(n.data):len(n.data)], Mode: n.mode, ModTime: n.modified}
}
