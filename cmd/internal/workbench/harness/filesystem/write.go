package filesystem

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/folder"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/texts"
	"github.com/candor-mcp/candor/codes/common"
	filesystemcode "github.com/candor-mcp/candor/codes/filesystem"
	"github.com/candor-mcp/candor/internal/durable"
)

// target is the target of a change: a name in a directory that was opened without following links.
type target struct {
	dir  *os.Root
	base string
	path string
}

// target resolves the target of a change. It checks first whether the path leaves the root, then the patterns, then
// existence.
func (f *files) target(p string, isFolder bool) (target, error) {
	root, name, err := f.open(p)
	if err != nil {
		return target{}, err
	}
	dir, base, err := root.Parent(name)
	if errors.Is(err, folder.ErrEscape) {
		return target{}, explain(err)
	}
	denied := f.mayWrite(name, isFolder)
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

// newTarget resolves the target of a file that may be new, and creates the folders above it if the domain does that.
func (f *files) newTarget(ctx context.Context, p string) (target, error) {
	t, err := f.target(p, false)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return t, err
	case !f.parents:
		return t, domain.Fail(filesystemcode.NotFound, "the folder of this path does not exist", err, candor.WithSuggestion("Create the folder with fs/mkdir, then repeat the call."))
	}
	every := &files{folder: f.folder, globs: []string{"**"}} // the path itself is allowed
	if _, err := every.mkdir(ctx, pathIn{path.Dir(path.Clean(p))}); err != nil {
		return target{}, err
	}
	return f.target(p, false)
}

func (t target) close() { _ = t.dir.Close() } // only a handle

// named is the name of a file, which the methods of another domain call file.
type named struct {
	Path string `json:"path"`
	File string `json:"file"`
}

func (n named) name() string { return cmp.Or(n.Path, n.File) }

type writeIn struct {
	named
	Content  string `json:"content"`
	Encoding string `json:"encoding"`
}

type writeOut struct {
	Path    string `json:"path"`
	Bytes   int    `json:"bytes"`
	Created bool   `json:"created"` // false if a file was replaced
}

func (f *files) write(ctx context.Context, in writeIn) (writeOut, error) {
	t, err := f.newTarget(ctx, in.name())
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
	return f.put(t, content)
}

// put writes the whole content of a target.
func (f *files) put(t target, content []byte) (writeOut, error) {
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

type editIn struct {
	named
	Edits  []texts.Edit `json:"edits"`
	DryRun bool         `json:"dryRun"`
}

type editOut struct {
	Path    string `json:"path"`
	Bytes   int    `json:"bytes"`
	Lines   []int  `json:"lines"` // of each edit, from 1
	Changed bool   `json:"changed"`
}

func (f *files) edit(_ context.Context, in editIn) (editOut, error) {
	t, err := f.target(in.name(), false)
	if err != nil {
		return editOut{}, err
	}
	defer t.close()
	root, _, err := f.open(in.name())
	if err != nil {
		return editOut{}, err
	}
	old, _, err := texts.Read(root, t.path)
	if err != nil {
		return editOut{}, explain(err)
	}
	text, lines, err := texts.Apply(string(old), in.Edits)
	if err != nil || in.DryRun {
		return editOut{Path: t.path, Bytes: len(text), Lines: lines}, err
	}
	out, err := f.put(t, []byte(text))
	return editOut{Path: t.path, Bytes: out.Bytes, Lines: lines, Changed: true}, err
}

type moveIn struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type moveOut struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Bytes int    `json:"bytes"`
}

// move writes the content under the new name and then removes the old one, because a rename could be led past the patterns by a link that
// is exchanged meanwhile.
func (f *files) move(ctx context.Context, in moveIn) (moveOut, error) {
	from, err := f.target(in.From, false)
	if err != nil {
		return moveOut{}, err
	}
	defer from.close()
	to, err := f.newTarget(ctx, in.To)
	if err != nil {
		return moveOut{}, err
	}
	defer to.close()
	if _, err := to.dir.Lstat(to.base); err == nil {
		return moveOut{}, domain.Fail(filesystemcode.Denied, "there is a file or folder with the new name", nil,
			candor.WithSuggestion("Choose another name, or delete what is there first."))
	}
	content, info, err := f.content(from.path)
	if err != nil {
		return moveOut{}, err
	}
	if err := durable.WriteFile(to.dir, to.base, content, info.Mode().Perm()); err != nil {
		return moveOut{}, explain(err)
	}
	if err := errors.Join(from.dir.Remove(from.base), durable.SyncDir(from.dir, ".")); err != nil {
		return moveOut{}, explain(err)
	}
	return moveOut{from.path, to.path, len(content)}, nil
}

// content reads a regular file that may be written again.
func (f *files) content(path string) ([]byte, fs.FileInfo, error) {
	root, name, err := f.open(path)
	if err != nil {
		return nil, nil, err
	}
	file, info, err := root.OpenLiteral(name) // it refuses another name of a private file
	if err != nil {
		return nil, nil, explain(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	content, err := io.ReadAll(io.LimitReader(file, int64(f.maxBytes)+1))
	if err != nil {
		return nil, nil, explain(err)
	}
	if len(content) > f.maxBytes {
		return nil, nil, domain.Fail(filesystemcode.WriteTooLarge, fmt.Sprintf("the file has more than %d bytes", f.maxBytes), nil)
	}
	return content, info, nil
}

// replace writes a file, or replaces one and keeps its mode. After a crash either the old or the new file exists, and a
// temporary file may be left beside it.
func (t target) replace(content []byte) (created bool, err error) {
	old, err := t.dir.Lstat(t.base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, durable.WriteFile(t.dir, t.base, content, 0o644)
	case err != nil:
		return false, err
	case !old.Mode().IsRegular():
		return false, folder.ErrNotRegular
	}
	if err := durable.WriteFile(t.dir, t.base, content, old.Mode().Perm()); err != nil {
		return false, err
	}
	return false, t.dir.Chmod(t.base, old.Mode().Perm()) // the mask of the process may have reduced it
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
	t, err := f.target(name, true)
	if err != nil {
		return false, err
	}
	defer t.close()
	switch info, err := t.dir.Lstat(t.base); {
	case err == nil && info.IsDir():
		return false, nil
	case err == nil:
		return false, domain.Fail(filesystemcode.Denied, "there is a file at this path", nil, candor.WithSuggestion("Choose another name for the folder."))
	case !errors.Is(err, fs.ErrNotExist):
		return false, explain(err)
	}
	if err := t.dir.Mkdir(t.base, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, explain(err)
	}
	if err := durable.SyncDir(t.dir, "."); err != nil {
		return false, explain(err)
	}
	return true, nil
}

type removeOut struct {
	Path    string `json:"path"`
	Deleted bool   `json:"deleted"`
}

func (f *files) remove(_ context.Context, in pathIn) (removeOut, error) {
	t, err := f.target(in.Path, true)
	if err != nil {
		return removeOut{}, err
	}
	defer t.close()
	err = t.dir.Remove(t.base)
	if err == nil {
		err = durable.SyncDir(t.dir, ".")
	}
	if err != nil {
		return removeOut{}, explain(err)
	}
	return removeOut{Path: t.path, Deleted: true}, nil
}
