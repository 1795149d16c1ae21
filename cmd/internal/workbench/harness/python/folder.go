package python

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/candor-mcp/candor/cmd/internal/scratch"
)

// source is a program to run.
type source struct {
	name string // in tracebacks
	text string
}

// folderPrefix is the prefix of the names of the directories of runs.
const folderPrefix = "candor-python-"

// folder is the private directory of a run: the read-only source and given files, and an empty working directory.
type folder struct{ dir *scratch.Dir }

func newFolder(text string, files []byte) (folder, error) {
	dir, err := scratch.New(os.TempDir(), folderPrefix)
	if err != nil {
		return folder{}, err
	}
	f := folder{dir}
	if err := errors.Join(os.WriteFile(f.source(), []byte(text), 0o600), os.WriteFile(f.files(), files, 0o600), os.Mkdir(f.work(), 0o700)); err != nil {
		f.remove()
		return folder{}, err
	}
	return f, nil
}

func (f folder) source() string { return filepath.Join(f.dir.Path, "source.py") }
func (f folder) files() string  { return filepath.Join(f.dir.Path, "files.json") }
func (f folder) work() string   { return filepath.Join(f.dir.Path, "work") }
func (f folder) remove()        { f.dir.Remove() }

// size returns the total size of the files in the working directory, plus an allowance for each entry. It stops
// counting above most, and when ctx ends. Directories that are too deep for a path count as more than most.
func (f folder) size(ctx context.Context, most int64) (bytes int64) {
	_ = filepath.WalkDir(f.work(), func(_ string, entry fs.DirEntry, err error) error {
		bytes += 4 << 10
		if errors.Is(err, syscall.ENAMETOOLONG) {
			bytes += most
		}
		if bytes > most || ctx.Err() != nil {
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
