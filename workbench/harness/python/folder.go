package python

import (
	"io/fs"
	"os"
	"path/filepath"
)

// source is a program to run.
type source struct {
	name string // in tracebacks
	text string
}

// folder is the private folder of a run: the source, which it can only read, and an empty folder to work in.
type folder struct{ path string }

func newFolder(text string) (folder, error) {
	path, err := os.MkdirTemp("", "candor-python-")
	if err != nil {
		return folder{}, err
	}
	f := folder{path}
	if f.path, err = filepath.EvalSymlinks(path); err != nil {
		f.path = path
	}
	if err = os.WriteFile(f.source(), []byte(text), 0o600); err == nil {
		err = os.Mkdir(f.work(), 0o700)
	}
	if err != nil {
		f.remove()
		return folder{}, err
	}
	return f, nil
}

func (f folder) source() string { return filepath.Join(f.path, "source.py") }
func (f folder) work() string   { return filepath.Join(f.path, "work") }

// remove removes the folder, also if folders in it were made without permissions.
func (f folder) remove() {
	if os.RemoveAll(f.path) == nil {
		return
	}
	_ = filepath.WalkDir(f.path, func(path string, entry fs.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // folders need the x bit; it is about to be removed
		}
		return nil
	})
	_ = os.RemoveAll(f.path)
}

// size is how many bytes the files of the working folder have, with an allowance for each entry. It stops counting above most.
func (f folder) size(most int64) (bytes int64) {
	_ = filepath.WalkDir(f.work(), func(_ string, entry fs.DirEntry, _ error) error {
		bytes += 4 << 10
		if bytes > most {
			return filepath.SkipAll
		}
		if entry == nil || entry.IsDir() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
