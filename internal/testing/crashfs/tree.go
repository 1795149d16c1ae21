package crashfs

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
)

// change is one act on names that happens as a whole or not at all, and is not known to be on the disk.
type change struct {
	renames []rename
	lying   bool // a SyncDir of it failed: asking again does not bring it to the disk
}

// rename makes a name of a folder stand for another node, or for none.
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
	for _, r := range c.renames {
		if r.folder == folder {
			return true
		}
	}
	return false
}

// settleNames brings the names of a folder to the disk. What a failed SyncDir left behind goes with them only if the folder was changed since, as
// that has it written once more.
func (f *FS) settleNames(folder *node) {
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

// failNames is to a folder what failSync is to a file.
func (f *FS) failNames(folder *node) {
	for i, c := range f.pending {
		if c.touches(folder) {
			f.pending[i].lying = true
		}
	}
}

// lookup returns what a name stands for, or nil.
func (f *FS) lookup(name string) *node {
	n := f.root
	for base := range strings.SplitSeq(path.Clean(name), "/") {
		if base == "." {
			continue
		}
		if n == nil || !n.isFolder() {
			return nil
		}
		n = n.entries[base]
	}
	return n
}

func (f *FS) parent(op Op, name string) (folder *node, base string, err error) {
	folder, err = f.folder(op, path.Dir(path.Clean(name)))
	return folder, path.Base(name), err
}

func (f *FS) folder(op Op, name string) (*node, error) {
	n := f.lookup(name)
	if n == nil {
		return nil, notExist(op, name)
	}
	if !n.isFolder() {
		return nil, &fs.PathError{Op: string(op), Path: name, Err: syscall.ENOTDIR}
	}
	return n, nil
}

func (f *FS) file(op Op, name string) (*node, error) {
	n := f.lookup(name)
	if n == nil {
		return nil, notExist(op, name)
	}
	if n.isFolder() {
		return nil, &fs.PathError{Op: string(op), Path: name, Err: syscall.EISDIR}
	}
	return n, nil
}

// room returns the bytes that are left below the limit. A file that has no name takes none.
func (f *FS) room() int64 {
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
