package crashfs

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
)

// change is an atomic change of names that may not be on the disk yet.
type change struct {
	renames []rename
	lying   bool // a SyncDir of it failed: another SyncDir alone does not write it
}

// rename makes a name in a folder refer to another node, or removes it if to is nil.
type rename struct {
	folder *node
	name   string
	to     *node
}

func (f *FS) rename(renames ...rename) {
	for _, r := range renames {
		r.apply(r.folder.entries)
		r.folder.modified = time.Now()
	}
	f.pending = append(f.pending, change{renames: renames})
}

func (r rename) apply(entries map[string]*node) {
	if r.to == nil {
		delete(entries, r.name)
		return
	}
	entries[r.name] = r.to
}

func (c change) touches(folder *node) bool {
	return slices.ContainsFunc(c.renames, func(r rename) bool { return r.folder == folder })
}

// syncNames writes the names of a folder to the disk. Changes of a failed SyncDir are written with them only if the
// folder was changed since, because that makes the folder dirty again.
func (f *FS) syncNames(folder *node) {
	again := slices.ContainsFunc(f.pending, func(c change) bool { return !c.lying && c.touches(folder) })
	left := make([]change, 0, len(f.pending))
	for _, c := range f.pending {
		if !again || !c.touches(folder) {
			left = append(left, c)
			continue
		}
		for _, r := range c.renames {
			r.apply(r.folder.durable)
		}
	}
	f.pending = left
}

// failNames does for a folder what failSync does for a file.
func (f *FS) failNames(folder *node) {
	for i, c := range f.pending {
		if c.touches(folder) {
			f.pending[i].lying = true
		}
	}
}

// lookup returns the node with this name.
func (f *FS) lookup(op Op, name string) (*node, error) {
	n := f.root
	for base := range strings.SplitSeq(path.Clean(name), "/") {
		if base == "." {
			continue
		}
		if n = n.entries[base]; n == nil { // a file has no entries
			return nil, notExist(op, name)
		}
	}
	return n, nil
}

func (f *FS) parent(op Op, name string) (folder *node, base string, err error) {
	folder, err = f.folder(op, path.Dir(path.Clean(name)))
	return folder, path.Base(name), err
}

func (f *FS) folder(op Op, name string) (*node, error) {
	n, err := f.lookup(op, name)
	if err == nil && !n.isFolder() {
		err = &fs.PathError{Op: string(op), Path: name, Err: syscall.ENOTDIR}
	}
	return n, err
}

// free returns the number of bytes left below the limit. Files without a name do not count.
func (f *FS) free() int64 {
	if f.limit == 0 {
		return 1 << 40
	}
	return f.limit - used(f.root)
}

func used(folder *node) (sum int64) {
	for _, n := range folder.entries {
		if n.isFolder() {
			sum += used(n)
		} else {
			sum += n.space()
		}
	}
	return sum
}

func notExist(op Op, name string) error {
	return &fs.PathError{Op: string(op), Path: name, Err: fs.ErrNotExist}
}

func reserved(folder *node) (sum int64) {
	for _, n := range folder.entries {
		if n.isFolder() {
			sum += reserved(n)
		} else {
			sum += n.space() - int64(len(n.data))
		}
	}
	return sum
}
