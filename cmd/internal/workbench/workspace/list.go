package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/candor-mcp/candor/codes/kaiza"
)

// Limits of a listing: number of items, and names read.
const (
	MaxItems = 1000
	maxNames = 10_000
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

// List returns the entries of a folder sorted by name, at most [MaxItems]; truncated is true if there are more. The path
// of the folder may contain links that stay inside; links in the folder are listed but not followed.
//
// The error is PATH_NOT_FOUND if the folder does not exist, and INVALID_PATH if it is not a folder.
func (f *Folder) List(p Path) (items []Item, truncated bool, err error) {
	dir, err := f.folder(p)
	if err != nil {
		return nil, false, err
	}
	defer dir.Close() //nolint:errcheck // opened for reading
	names, err := readNames(dir)
	if err != nil {
		return nil, false, f.access(p, err, kaiza.FileReadFailed)
	}
	items = []Item{}
	for _, name := range names[:min(len(names), MaxItems)] {
		info, err := dir.Lstat(name)
		if err != nil {
			continue // removed in the meantime
		}
		item := Item{Path: p.join(name), Kind: kindOf(info)}
		if item.Kind == KindFile {
			item.Size = info.Size()
		}
		items = append(items, item)
	}
	return items, len(names) > MaxItems, nil
}

// Names returns all names in a folder, sorted. The errors are those of [Folder.List], and FILE_READ_FAILED if there are
// more names than the limit.
func (f *Folder) Names(p Path) ([]string, error) {
	dir, err := f.folder(p)
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // opened for reading
	names, err := readNames(dir)
	if len(names) == maxNames {
		err = fault(kaiza.FileReadFailed, p, fmt.Sprintf("holds %d names or more.", maxNames), nil)
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

// readNames returns the names in a folder, sorted, at most maxNames.
func readNames(dir *os.Root) ([]string, error) {
	d, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close() //nolint:errcheck // opened for reading
	names, err := d.Readdirnames(maxNames)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	slices.Sort(names)
	return names, err
}
