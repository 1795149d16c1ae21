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

// What a listing holds at most, how deep it goes, and how many names of one folder are looked at.
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
	KindLink   Kind = "link"  // a symbolic link, which is not followed
	KindOther  Kind = "other" // a FIFO, a socket, a device
)

// Item is one name in a folder.
type Item struct {
	Path Path
	Kind Kind
	Size int64 // of a file
}

// List names what is in a folder, sorted by path, at most [MaxItems]; truncated says that there is more. Depth is how many levels
// are listed, 1 (the folder alone) to [MaxDepth]. The folder itself may be reached through links that stay inside; links in it are
// listed and not followed.
//
// PATH_NOT_FOUND is a folder that does not exist, INVALID_PATH something that is not a folder, INVALID_INPUT_VALUE a depth out of bounds.
func (f *Folder) List(p Path, depth int) (items []Item, truncated bool, err error) {
	if depth < 1 || depth > MaxDepth {
		return nil, false, candor.New(kaiza.InvalidInputValue, fmt.Sprintf("The depth must be from 1 to %d.", MaxDepth),
			candor.WithDetails(map[string]any{"field": "depth"}))
	}
	dir, err := f.folder(p)
	if err != nil {
		return nil, false, err
	}
	defer dir.Close() //nolint:errcheck // it was only read
	l := listing{}
	if err := l.add(dir, p, depth); err != nil {
		return nil, false, f.access(p, err, kaiza.FileReadFailed)
	}
	slices.SortFunc(l.items, func(a, b Item) int { return strings.Compare(a.Path.name, b.Path.name) })
	return l.items, l.truncated, nil
}

// Names returns the names in a folder, sorted: all of them, unlike [Folder.List]. The errors are those of List, and FILE_READ_FAILED if
// there are more than the limit.
func (f *Folder) Names(p Path) ([]string, error) {
	dir, err := f.folder(p)
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // it was only read
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

// listing gathers items. What is near comes before what is deep, so that a bound cuts off the deep.
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
			continue // it went away meanwhile
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
			continue // it went away, or became something else
		}
		// A folder below that cannot be read is still listed by name.
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

// readNames returns the names in a folder, sorted; more says that there are more than the limit.
func readNames(dir *os.Root) (names []string, more bool, err error) {
	d, err := dir.Open(".")
	if err != nil {
		return nil, false, err
	}
	defer d.Close() //nolint:errcheck // it was only read
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
