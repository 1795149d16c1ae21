// Package folder opens files below one directory for domains that get paths from clients.
//
// All access uses [os.Root], so a path cannot leave the directory even if a part of it is replaced by a symbolic link
// between a check and its use. Opening a file does not wait for the other end of a FIFO, and only regular files are
// opened. Directories that hold the keys and the state of the program are recognised by their identity and never entered.
package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
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
	ErrPrivate    = errors.New("the path leads to the state of this program")
)

// Folder is an open directory. Its methods may be called concurrently.
type Folder struct {
	root    *os.Root
	private []string // directories that are not entered
	escapes error    // the error of os.Root for a path that leaves the root, which package os does not export
}

// Open opens an existing directory. The path must be absolute, so that a server does not depend on its working
// directory. The private directories, and files that are linked from them, lead to [ErrPrivate].
func Open(name string, private ...string) (*Folder, error) {
	if !filepath.IsAbs(name) {
		return nil, fmt.Errorf("%q: not an absolute path", name)
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	_, err = root.Lstat("..")
	return &Folder{root: root, private: private, escapes: errors.Unwrap(err)}, nil
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
	name, err := f.follow(name)
	if err != nil {
		return nil, err
	}
	return f.Lstat(name)
}

// Lstat is like [Folder.Stat], but follows no symbolic link.
func (f *Folder) Lstat(name string) (fs.FileInfo, error) {
	dir, base, err := f.Parent(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // it was only read
	info, err := dir.Lstat(base)
	if err == nil && f.isPrivate(info) {
		err = ErrPrivate
	}
	return info, f.explain(err)
}

// OpenFile opens a regular file for reading. It follows symbolic links inside the directory.
func (f *Folder) OpenFile(name string) (*os.File, fs.FileInfo, error) {
	name, err := f.follow(name)
	if err != nil {
		return nil, nil, err
	}
	return f.OpenLiteral(name)
}

// OpenDir opens a directory for listing. It follows symbolic links inside the directory.
func (f *Folder) OpenDir(name string) (*os.File, error) {
	name, err := f.follow(name)
	if err != nil {
		return nil, err
	}
	dir, _, err := f.Parent(name + "/.")
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // it was only read
	return dir.OpenFile(".", os.O_RDONLY|NonBlock, 0)
}

const maxLinks = 40 // that are followed in one path, as in Linux

// follow returns the path to which the symbolic links in a path lead. Nothing is opened through a link, so that every
// directory on the way can be checked.
func (f *Folder) follow(name string) (string, error) {
	var done []string
	links := 0
	for rest := strings.Split(name, "/"); len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part == ".." && len(done) == 0:
			return "", ErrEscape
		case part == "..":
			done = done[:len(done)-1]
			continue
		}
		at := path.Join(append(done, part)...)
		target, err := f.root.Readlink(at)
		if err != nil {
			if _, err := f.root.Lstat(at); err != nil {
				return "", f.explain(err)
			}
			done = append(done, part) // not a link
			continue
		}
		if links++; links > maxLinks {
			return "", syscall.ELOOP
		}
		if filepath.IsAbs(target) {
			return "", ErrEscape
		}
		rest = append(strings.Split(filepath.ToSlash(target), "/"), rest...)
	}
	return path.Join(append([]string{"."}, done...)...), nil
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
		child, err := f.enter(dir, part)
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
	file, info, err := OpenPlain(dir, base)
	if err == nil && f.linksPrivate(info) {
		return nil, nil, errors.Join(ErrPrivate, file.Close())
	}
	return file, info, f.explainLink(name, err)
}

// CheckLink returns [ErrEscape] or [ErrLink] if base in dir, which is the path name, is a symbolic link, and [ErrPrivate]
// if it is a private directory. A missing file is not an error.
func (f *Folder) CheckLink(dir *os.Root, base, name string) error {
	switch info, err := dir.Lstat(base); {
	case err != nil:
		return nil //nolint:nilerr // the change reports it
	case info.Mode()&fs.ModeSymlink != 0:
		return f.explainLink(name, ErrLink)
	case f.isPrivate(info):
		return ErrPrivate
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

// look returns the file info of a name in dir. It fails if that is a link or not of the wanted type.
func look(dir *os.Root, name string, wanted func(fs.FileMode) bool, otherwise error) (fs.FileInfo, error) {
	seen, err := dir.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case seen.Mode()&fs.ModeSymlink != 0:
		return nil, ErrLink
	case !wanted(seen.Mode()):
		return nil, otherwise
	}
	testHookSeen(name)
	return seen, nil
}

// Enter opens the directory name in dir, which must not be a link. The name may be replaced by a link between the check
// and the opening, so Enter verifies that it has opened the directory that it checked.
func Enter(dir *os.Root, name string) (*os.Root, error) {
	seen, err := look(dir, name, fs.FileMode.IsDir, ErrNotFolder)
	if err != nil {
		return nil, err
	}
	child, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if got, err := child.Stat("."); err != nil || !os.SameFile(seen, got) {
		return nil, errors.Join(ErrChanged, err, child.Close())
	}
	return child, nil
}

// OpenPlain opens the regular file name in dir for reading, without following links, with the same check as [Enter].
func OpenPlain(dir *os.Root, name string) (*os.File, fs.FileInfo, error) {
	seen, err := look(dir, name, fs.FileMode.IsRegular, ErrNotRegular)
	if err != nil {
		return nil, nil, err
	}
	file, err := dir.OpenFile(name, os.O_RDONLY|NonBlock, 0)
	if err != nil {
		return nil, nil, err
	}
	got, err := file.Stat()
	if err != nil || !os.SameFile(seen, got) {
		return nil, nil, errors.Join(ErrChanged, err, file.Close())
	}
	return file, got, nil
}
