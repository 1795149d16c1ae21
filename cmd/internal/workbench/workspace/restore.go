package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// restore gives the target its old content back, even if its name is now a link, a pipe, or a file that cannot be read.
// It replaces the name atomically and does not write through it. It removes a folder with the name only if that is
// empty, and creates missing parent folders.
func (m *move) restore(f *Folder) error {
	r := m.reversed()
	defer r.release()
	dir, err := f.walk(m.path.parent())
	if candor.CodeOf(err) == kaiza.PathNotFound {
		if m.from.hash == "" {
			return nil // without the folder the file does not exist
		}
		dir, err = f.walkMaking(m.path.parent())
	}
	if err != nil {
		return err
	}
	r.dir = dir
	if err := clearName(r.dir, m.path); err != nil {
		return writeFault(f, m.path, err)
	}
	if err := r.write(f); err != nil {
		return writeFault(f, m.path, err)
	}
	if err := f.inPlace(r.dir, m.path.parent()); err != nil {
		return err
	}
	if r.to.hash == "" {
		err = removeFile(r.dir, m.path.base())
	} else {
		err = r.dir.Rename(r.temp, m.path.base())
		r.left = err != nil
	}
	if err := errors.Join(err, syncFolder(r.dir)); err != nil {
		return writeFault(f, m.path, err)
	}
	return r.readBack(f)
}

// clearName removes an empty folder with the name of a file to restore. Other files are replaced by the rename.
func clearName(dir *os.Root, p Path) error {
	info, err := dir.Lstat(p.base())
	if err != nil || !info.IsDir() {
		return nil //nolint:nilerr // the write reports the error
	}
	if err := removeEmpty(dir, p.base()); err != nil {
		return fault(kaiza.FileWriteFailed, p, "is a folder by now that is not empty, and a file cannot be put back there.", err)
	}
	return nil
}

// removeFile removes a file. It is not an error if it does not exist.
func removeFile(dir *os.Root, name string) error {
	err := dir.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// walkMaking is like walk but creates missing folders. It is an error if a name is taken by something else.
func (f *Folder) walkMaking(p Path) (*os.Root, error) {
	at := Path{}
	for _, segment := range split(p.name) {
		parent, err := f.walk(at)
		if err != nil {
			return nil, err
		}
		at = at.join(segment)
		err = parent.Mkdir(segment, 0o755)
		if err == nil {
			err = syncFolder(parent)
		}
		_ = parent.Close()
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, writeFault(f, at, fmt.Errorf("creating the folder again: %w", err))
		}
	}
	return f.walk(p)
}
