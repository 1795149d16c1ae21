package workspace

import "errors"

// Kind is what a name in a folder stands for.
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

// List lists a folder.
func (f *Folder) List(p Path, depth int) (items []Item, truncated bool, err error) {
	return nil, false, errors.ErrUnsupported
}
