package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/codes/kaiza"
)

// Limits of a listing: number of items, depth, and names read per folder.
const (
	MaxItems  = 1000
	MaxDepth  = 4
	maxPerDir = 10_000
)

// Kind is the type of a directory entry.
type Kind string

// The kinds of items.
const (
	KindFile   Kind = "file"
	KindFolder Kind = "folder"
	KindLink   Kind = "link"  // a symbolic link, not followed
	KindOther  Kind = "other" // a FIFO, a socket, a device
)

// Item is one entry of a folder.
type Item struct {
	Path Path  `json:"path"`
	Kind Kind  `json:"kind"`
	Size int64 `json:"size,omitempty"` // size of a file
}

// List returns the entries of a folder sorted by path, at most [MaxItems]; truncated is true if there are more. depth is
// the number of levels, from 1 (the folder alone) to [MaxDepth]. The path of the folder may contain links that stay
// inside; links in the folder are listed but not followed.
//
// The error is PATH_NOT_FOUND if the folder does not exist, INVALID_PATH if it is not a folder, and INVALID_INPUT_VALUE if
// depth is out of range.
func (f *Folder) List(p Path, depth int) (items []Item, truncated bool, err error) {
	if depth < 1 || depth > MaxDepth {
		return nil, false, candor.New(kaiza.InvalidInputValue, fmt.Sprintf("The depth must be from 1 to %d.", MaxDepth),
			candor.WithDetails(map[string]any{"field": "depth"}))
	}
	dir, err := f.folder(p)
	if err != nil {
		return nil, false, err
	}
	defer dir.Close() //nolint:errcheck // opened for reading
	l := listing{items: []Item{}}
	if err := l.add(dir, p, depth); err != nil {
		return nil, false, f.access(p, err, kaiza.FileReadFailed)
	}
	slices.SortFunc(l.items, func(a, b Item) int { return strings.Compare(a.Path.name, b.Path.name) })
	return l.items, l.truncated, nil
}

// Names returns all names in a folder, sorted. The errors are those of [Folder.List], and FILE_READ_FAILED if there are
// more names than the limit.
func (f *Folder) Names(p Path) ([]string, error) {
	dir, err := f.folder(p)
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // opened for reading
	names, more, err := readNames(dir)
	if err == nil && more {
		err = fault(kaiza.FileReadFailed, p, fmt.Sprintf("holds more than %d names.", maxPerDir), nil)
	}
	return names, f.access(p, err, kaiza.FileReadFailed)
}

// folder opens a folder for reading. The caller closes it.
func (f *Folder) folder(p Path) (*os.Root, error) {
	info, err := f.root.Stat(p.String())
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, fault(kaiza.PathNotFound, p, "does not exist.", err)
	case err != nil:
		return nil, f.access(p, err, kaiza.FileReadFailed)
	case !info.IsDir():
		return nil, fault(kaiza.InvalidPath, p, "is not a folder.", nil)
	case info.Mode().Perm()&0o444 == 0:
		return nil, fault(kaiza.InsufficientPermissions, p, "has no read permission.", nil)
	}
	dir, err := f.root.OpenRoot(p.String())
	return dir, f.access(p, err, kaiza.FileReadFailed)
}

// listing collects items, level by level, so that a limit cuts off the deepest levels.
type listing struct {
	items     []Item
	truncated bool
}

func (l *listing) add(dir *os.Root, at Path, depth int) error {
	names, more, err := readNames(dir)
	if err != nil {
		return err
	}
	l.truncated = l.truncated || more
	var below []string
	for _, name := range names {
		info, err := dir.Lstat(name)
		if err != nil {
			continue // removed in the meantime
		}
		if len(l.items) == MaxItems {
			l.truncated = true
			return nil
		}
		item := Item{Path: at.join(name), Kind: kindOf(info)}
		if item.Kind == KindFile {
			item.Size = info.Size()
		}
		l.items = append(l.items, item)
		if item.Kind == KindFolder && depth > 1 {
			below = append(below, name)
		}
	}
	for _, name := range below {
		child, err := enter(dir, name)
		if err != nil {
			continue // removed or replaced in the meantime
		}
		// A nested folder that cannot be read is still listed by name.
		_ = errors.Join(l.add(child, at.join(name), depth-1), child.Close())
	}
	return nil
}

func kindOf(info fs.FileInfo) Kind {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return KindFile
	case mode.IsDir():
		return KindFolder
	case mode&fs.ModeSymlink != 0:
		return KindLink
	}
	return KindOther
}

// readNames returns the names in a folder, sorted; more is true if there are more than the limit.
func readNames(dir *os.Root) (names []string, more bool, err error) {
	d, err := dir.Open(".")
	if err != nil {
		return nil, false, err
	}
	defer d.Close() //nolint:errcheck // opened for reading
	names, err = d.Readdirnames(maxPerDir + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	if more = len(names) > maxPerDir; more {
		names = names[:maxPerDir]
	}
	slices.Sort(names)
	return names, more, nil
}
