package term

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/candor-mcp/candor/internal/durable"
)

// maxLinks bounds a chain of symbolic links.
const maxLinks = 40

// ReplaceFile replaces a file atomically. The file keeps its permissions; mode is for a new one. A symbolic link is kept, and its target
// is written, even if it does not exist yet. A device or a pipe is written in place.
func ReplaceFile(name string, data []byte, mode fs.FileMode) (err error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(name, data, mode)
	} else if err == nil {
		mode = info.Mode().Perm()
	}
	for links := 0; ; links++ {
		to, err := os.Readlink(name)
		if err != nil {
			break
		}
		if links == maxLinks {
			return &fs.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(name), to)
		}
		name = to
	}
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return durable.WriteFile(root, filepath.Base(name), data, mode)
}
