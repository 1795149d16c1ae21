package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Inside reports whether a path is a directory or below it, in any spelling and through links. Elements that do not
// exist do not count.
func Inside(name, dir string) bool {
	top, err := os.Stat(dir)
	if err != nil {
		return false
	}
	at, err := filepath.EvalSymlinks(name)
	for err != nil && name != filepath.Dir(name) {
		name = filepath.Dir(name)
		at, err = filepath.EvalSymlinks(name)
	}
	for {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, top) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
		at = filepath.Dir(at)
	}
}

// isPrivate reports whether a file is one of the private directories.
func (f *Folder) isPrivate(info fs.FileInfo) bool {
	return slices.ContainsFunc(f.private, func(name string) bool {
		own, err := os.Stat(name)
		return err == nil && os.SameFile(own, info)
	})
}

// linksPrivate reports whether an open file has another name in a private directory.
func (f *Folder) linksPrivate(info fs.FileInfo) bool {
	return Links(info) > 1 && slices.ContainsFunc(f.private, func(name string) bool {
		found := false
		_ = filepath.WalkDir(name, func(_ string, e fs.DirEntry, err error) error { // what another process removes meanwhile does not count
			if err != nil || !e.Type().IsRegular() {
				return nil //nolint:nilerr // as above
			}
			if own, err := e.Info(); err == nil && os.SameFile(own, info) {
				found = true
				return filepath.SkipAll
			}
			return nil
		})
		return found
	})
}

// enter is [Enter] for a directory that is not private.
func (f *Folder) enter(dir *os.Root, name string) (*os.Root, error) {
	child, err := Enter(dir, name)
	if err != nil {
		return nil, err
	}
	if info, err := child.Stat("."); err != nil || f.isPrivate(info) {
		return nil, errors.Join(ErrPrivate, err, child.Close())
	}
	return child, nil
}
