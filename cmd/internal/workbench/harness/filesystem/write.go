package filesystem

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/internal/folder"
	"github.com/candor-mcp/candor/codes/common"
	filesystemcode "github.com/candor-mcp/candor/codes/filesystem"
	"github.com/candor-mcp/candor/internal/durable"
	"github.com/candor-mcp/candor/internal/filelock"
)

// target is the target of a change: a name in a directory that was opened without following links.
type target struct {
	dir  *os.Root
	base string
	path string
}

// target resolves the target of a change. It checks first whether the path leaves the root, then the patterns, then
// existence.
func (f *files) target(p string) (target, error) {
	root, name, err := f.open(p)
	if err != nil {
		return target{}, err
	}
	dir, base, err := root.Parent(name)
	if errors.Is(err, folder.ErrEscape) {
		return target{}, explain(err)
	}
	denied := f.mayWrite(name)
	if err != nil {
		return target{}, cmp.Or(denied, explain(err))
	}
	t := target{dir: dir, base: base, path: name}
	if err := root.CheckLink(dir, base, name); err != nil {
		t.close()
		if errors.Is(err, folder.ErrEscape) {
			denied = nil
		}
		return target{}, cmp.Or(denied, explain(err))
	}
	if denied != nil {
		t.close()
		return target{}, denied
	}
	return t, nil
}

func (t target) close() { _ = t.dir.Close() } // only a handle

type writeIn struct {
	Path     string `json:"path"`
	Content  string `json:"content"`
	Encoding string `json:"encoding"`
}

type writeOut struct {
	Path    string `json:"path"`
	Bytes   int    `json:"bytes"`
	Created bool   `json:"created"` // false if a file was replaced
}

func (f *files) write(_ context.Context, in writeIn) (writeOut, error) {
	t, err := f.target(in.Path)
	if err != nil {
		return writeOut{}, err
	}
	defer t.close()
	content := []byte(in.Content)
	if in.Encoding == "base64" {
		if content, err = base64.StdEncoding.DecodeString(in.Content); err != nil {
			return writeOut{}, domain.Fail(common.InvalidParams, "content: not valid base64", err)
		}
	}
	if len(content) > f.maxBytes {
		return writeOut{}, domain.Fail(filesystemcode.WriteTooLarge,
			fmt.Sprintf("the content has %d bytes, the limit is %d", len(content), f.maxBytes), nil)
	}
	created, err := t.replace(content)
	if err != nil {
		return writeOut{}, explain(err)
	}
	return writeOut{Path: t.path, Bytes: len(content), Created: created}, nil
}

// replace writes a new file beside the old one and renames it. After a crash either the old or the new file exists; a
// temporary file may be left, see [files.sweep].
func (t target) replace(content []byte) (created bool, err error) {
	mode := fs.FileMode(0o644)
	old, err := t.dir.Lstat(t.base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		created = true
	case err != nil:
		return false, err
	case !old.Mode().IsRegular():
		return false, folder.ErrNotRegular
	default:
		mode = old.Mode().Perm()
	}
	file, temporary, err := t.createTemporary(mode)
	if err != nil {
		return false, err
	}
	err = fill(file, content, mode, created)
	if runtime.GOOS == "windows" { // Windows cannot rename an open file
		err = errors.Join(err, file.Close())
	}
	if err == nil {
		err = t.dir.Rename(temporary, t.base)
	}
	if err != nil {
		err = errors.Join(err, t.dir.Remove(temporary))
	}
	if runtime.GOOS != "windows" {
		err = errors.Join(err, file.Close()) // the lock was held until the rename
	}
	if err != nil {
		return false, err
	}
	return created, syncFolder(t.dir)
}

// createTemporary creates a file and locks it.
func (t target) createTemporary(mode fs.FileMode) (file *os.File, name string, err error) {
	for attempt := 0; ; attempt++ {
		name = temporaryName()
		if file, err = t.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode); err != nil {
			return nil, "", err
		}
		locked := filelock.TryLock(file)
		if errors.Is(locked, filelock.ErrLocked) && attempt < 3 {
			_ = file.Close() // another process took it for a leftover file and removes it
			continue
		}
		if _, err := t.dir.Lstat(name); errors.Is(err, fs.ErrNotExist) && attempt < 3 {
			_ = file.Close()
			continue
		}
		return file, name, nil // without a lock no other process removes it
	}
}

// fill writes a new file and makes it durable. A new file has the system's default mode; a replaced file keeps its
// mode.
func fill(file *os.File, content []byte, mode fs.FileMode, created bool) error {
	if !created {
		if err := file.Chmod(mode); err != nil {
			return err
		}
	}
	if _, err := file.Write(content); err != nil {
		return err
	}
	return durable.SyncData(file)
}

// syncFolder makes the names in a directory durable. Windows does not support that.
func syncFolder(dir *os.Root) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return durable.SyncDir(dir, ".")
}

type mkdirOut struct {
	Path    string `json:"path"`
	Created bool   `json:"created"`
}

// mkdir creates a directory and its missing parents, each of which must be allowed.
func (f *files) mkdir(_ context.Context, in pathIn) (mkdirOut, error) {
	_, name, err := f.open(in.Path)
	if err != nil {
		return mkdirOut{}, err
	}
	out := mkdirOut{Path: name}
	parts := strings.Split(name, "/")
	for i := range parts {
		// Existing directories need no permission, except the last one.
		made, err := f.mkdirOne(path.Join(parts[:i+1]...), i == len(parts)-1)
		if err != nil {
			return mkdirOut{}, err
		}
		out.Created = made
	}
	return out, nil
}

func (f *files) mkdirOne(name string, last bool) (made bool, err error) {
	root, _, err := f.open(name)
	if err != nil {
		return false, err
	}
	if info, err := root.Lstat(name); err == nil && info.IsDir() && !last {
		return false, nil
	}
	t, err := f.target(name)
	if err != nil {
		return false, err
	}
	defer t.close()
	switch info, err := t.dir.Lstat(t.base); {
	case err == nil && info.IsDir():
		return false, nil
	case err == nil:
		return false, domain.Fail(filesystemcode.Denied, "there is a file at this path", nil)
	case !errors.Is(err, fs.ErrNotExist):
		return false, explain(err)
	}
	if err := t.dir.Mkdir(t.base, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, explain(err)
	}
	if err := syncFolder(t.dir); err != nil {
		return false, explain(err)
	}
	return true, nil
}

type removeOut struct {
	Path    string `json:"path"`
	Deleted bool   `json:"deleted"`
}

func (f *files) remove(_ context.Context, in pathIn) (removeOut, error) {
	t, err := f.target(in.Path)
	if err != nil {
		return removeOut{}, err
	}
	defer t.close()
	err = t.dir.Remove(t.base)
	if err == nil {
		err = syncFolder(t.dir)
	}
	if err != nil {
		return removeOut{}, explain(err)
	}
	return removeOut{Path: t.path, Deleted: true}, nil
}
