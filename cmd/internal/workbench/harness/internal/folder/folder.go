// Package folder opens files below one directory for domains that get paths from clients.
//
// All access uses [os.Root], so a path cannot leave the directory even if a part of it is replaced by a symbolic link
// between a check and its use. Opening a file does not wait for the other end of a FIFO, and only regular files are
// opened.
package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// The limits of a path: its bytes, the bytes of one element, and the number of elements.
const (
	MaxPath = 4096
	maxPart = 255
	maxDeep = 128
)

// Errors of this package. File system errors are passed on; expect [fs.ErrNotExist] and [fs.ErrPermission].
var (
	ErrEscape     = errors.New("the path leads outside of the folder")
	ErrMalformed  = errors.New("the path is malformed")
	ErrLink       = errors.New("a part of the path is a symbolic link")
	ErrNotRegular = errors.New("not a regular file")
	ErrNotFolder  = errors.New("not a folder")
	ErrChanged    = errors.New("the path was changed during the call")
)

// Folder is an open directory. Its methods may be called concurrently.
type Folder struct {
	root    *os.Root
	escapes error // the error of os.Root for a path that leaves the root, which package os does not export
}

// Open opens an existing directory. The path must be absolute, so that a server does not depend on its working
// directory.
func Open(name string) (*Folder, error) {
	if !filepath.IsAbs(name) {
		return nil, fmt.Errorf("%q: not an absolute path", name)
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	_, err = root.Lstat("..")
	return &Folder{root: root, escapes: errors.Unwrap(err)}, nil
}

// Close closes the directory.
func (f *Folder) Close() error { return f.root.Close() }

// Parse returns a relative path in its shortest form; "." is the directory itself. The path must be relative and use
// slashes. Parse returns [ErrEscape] for absolute paths, "..", drive letters, backslashes and NUL bytes, and
// [ErrMalformed] for an empty or overlong path, invalid UTF-8 and control characters. It does not access the disk.
func Parse(name string) (string, error) {
	switch {
	case name == "" || len(name) > MaxPath || !utf8.ValidString(name):
		return "", ErrMalformed
	case strings.ContainsAny(name, "\x00\\") || strings.HasPrefix(name, "/") || hasDrive(name):
		return "", ErrEscape
	}
	parts := strings.Split(name, "/")
	for _, part := range parts {
		switch {
		case part == "..":
			return "", ErrEscape
		case len(part) > maxPart || strings.ContainsFunc(part, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return "", ErrMalformed
		}
	}
	clean := path.Clean(name)
	switch {
	case strings.Count(clean, "/") >= maxDeep:
		return "", ErrMalformed
	case clean != "." && !filepath.IsLocal(filepath.FromSlash(clean)):
		return "", ErrEscape // such as NUL or COM1 on Windows
	}
	return clean, nil
}

// hasDrive reports whether a path begins with a Windows drive, such as C:\ or C:file.
func hasDrive(name string) bool {
	letter := name[0] | 0x20
	return len(name) >= 2 && name[1] == ':' && letter >= 'a' && letter <= 'z'
}

// Stat returns the file at a path of [Parse]. It follows symbolic links inside the directory.
func (f *Folder) Stat(name string) (fs.FileInfo, error) {
	info, err := f.root.Stat(name)
	return info, f.explain(err)
}

// Lstat is like [Folder.Stat], but does not follow a symbolic link at the end of the path.
func (f *Folder) Lstat(name string) (fs.FileInfo, error) {
	info, err := f.root.Lstat(name)
	return info, f.explain(err)
}

// OpenFile opens a regular file for reading. It follows symbolic links inside the directory.
func (f *Folder) OpenFile(name string) (*os.File, fs.FileInfo, error) {
	file, info, err := OpenRegular(f.root, name)
	return file, info, f.explain(err)
}

// OpenDir opens a directory for listing. It follows symbolic links inside the directory.
func (f *Folder) OpenDir(name string) (*os.File, error) {
	info, err := f.root.Stat(name)
	if err == nil && !info.IsDir() {
		err = ErrNotFolder
	}
	if err != nil {
		return nil, f.explain(err)
	}
	dir, err := f.root.OpenFile(name, os.O_RDONLY|nonBlock, 0)
	return dir, f.explain(err)
}

// Parent opens the parent directory of a path, and returns the last element. It follows no symbolic links: the returned
// directory is the one that the path names literally, on which a policy for paths can rely. The caller closes it.
func (f *Folder) Parent(name string) (*os.Root, string, error) {
	dir, err := f.root.OpenRoot(".")
	if err != nil {
		return nil, "", err
	}
	parts := strings.Split(name, "/")
	for i, part := range parts[:len(parts)-1] {
		child, err := enter(dir, part)
		if err := errors.Join(err, dir.Close()); err != nil {
			return nil, "", f.explainLink(strings.Join(parts[:i+1], "/"), err)
		}
		dir = child
	}
	return dir, parts[len(parts)-1], nil
}

// OpenLiteral opens a regular file for reading. It follows no symbolic links.
func (f *Folder) OpenLiteral(name string) (*os.File, fs.FileInfo, error) {
	dir, base, err := f.Parent(name)
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close() //nolint:errcheck // it was only read
	if err := f.CheckLink(dir, base, name); err != nil {
		return nil, nil, err
	}
	seen, err := dir.Lstat(base)
	if err != nil {
		return nil, nil, f.explain(err)
	}
	file, info, err := OpenRegular(dir, base)
	if err == nil && !os.SameFile(seen, info) {
		err = errors.Join(ErrChanged, file.Close())
	}
	return file, info, f.explain(err)
}

// CheckLink returns [ErrEscape] or [ErrLink] if base in dir, which is the path name, is a symbolic link. A missing file
// is not an error.
func (f *Folder) CheckLink(dir *os.Root, base, name string) error {
	if info, err := dir.Lstat(base); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return f.explainLink(name, ErrLink)
	}
	return nil
}

// explainLink converts the error about a link to ErrEscape if the link leads outside.
func (f *Folder) explainLink(name string, err error) error {
	if !errors.Is(err, ErrLink) {
		return f.explain(err)
	}
	if _, statErr := f.root.Stat(name); errors.Is(f.explain(statErr), ErrEscape) {
		return ErrEscape
	}
	return err
}

// explain replaces the error of os.Root for a path that leaves the root.
func (f *Folder) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case f.escapes != nil && errors.Is(err, f.escapes):
		return ErrEscape
	case isNotFolder(err):
		return fmt.Errorf("%w: %w", ErrNotFolder, err)
	}
	return err
}

// testHookSeen is called between checking a name and opening it.
var testHookSeen = func(string) {}

// enter opens the directory name in dir. The name may be replaced by a link between the check and the opening, so enter
// verifies that it has opened the directory that it checked.
func enter(dir *os.Root, name string) (*os.Root, error) {
	seen, err := dir.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case seen.Mode()&fs.ModeSymlink != 0:
		return nil, ErrLink
	case !seen.IsDir():
		return nil, ErrNotFolder
	}
	testHookSeen(name)
	child, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if got, err := child.Stat("."); err != nil || !os.SameFile(seen, got) {
		return nil, errors.Join(ErrChanged, err, child.Close())
	}
	return child, nil
}

// OpenRegular opens a regular file below root for reading. It checks the file before opening it, because opening a
// device can have an effect, and again afterwards.
func OpenRegular(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	info, err := root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		return nil, nil, err
	}
	testHookSeen(name)
	file, err := root.OpenFile(name, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = file.Stat(); err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}
