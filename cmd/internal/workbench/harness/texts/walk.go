// Package texts reads, searches and edits the text files below a folder, for the domains of the harness that have files.
package texts

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/workbench/folder"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
)

// Limits of one call.
const (
	MaxFile        = 1 << 20 // bytes of a file that is read or searched
	maxFiles       = 20_000  // entries that one call examines
	maxDepth       = 32
	defaultResults = 100
)

// Entry is a file.
type Entry struct {
	File     string    `json:"file"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
}

// LimitOf returns the number of results that a call asks for.
func LimitOf(limit int) int { return min(cmp.Or(limit, defaultResults), MaxResults) }

// cursorMark begins every cursor, so that another text is refused and not taken for the end of a list.
const cursorMark = "after:"

// Cursor returns the cursor for the results after a name.
func Cursor(name string) string { return cursorMark + name }

// ParseCursor returns the name in a cursor, "" for none.
func ParseCursor(cursor string) (string, error) {
	name, ok := strings.CutPrefix(cursor, cursorMark)
	if cursor != "" && !ok {
		return "", domain.Fail(common.InvalidParams, "cursor: not one that this method has returned", nil)
	}
	return name, nil
}

// Files returns the regular files below a folder, "" for the root, sorted by name. It omits hidden files and directories, and symbolic
// links. incomplete is true if a limit was reached or a directory could not be read.
func Files(ctx context.Context, f *folder.Folder, under string) (all []Entry, incomplete bool, err error) {
	w := walk{folder: f, left: maxFiles, all: []Entry{}}
	if err := w.add(ctx, cmp.Or(under, "."), 0); err != nil {
		return nil, false, cmp.Or(ctx.Err(), err)
	}
	slices.SortFunc(w.all, func(a, b Entry) int { return strings.Compare(a.File, b.File) })
	return w.all, w.incomplete, nil
}

// walk collects the files of a directory.
type walk struct {
	folder     *folder.Folder
	left       int // entries that may still be examined
	all        []Entry
	incomplete bool
}

// add collects the files of a directory and its subdirectories. It returns an error only if the first directory fails.
func (w *walk) add(ctx context.Context, name string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if depth > maxDepth {
		w.incomplete = true
		return nil
	}
	entries, err := w.entries(name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		at := path.Join(name, e.Name())
		if _, err := folder.Parse(at); err != nil {
			continue // a name that mb/read would refuse
		}
		switch {
		case e.IsDir():
			err := w.add(ctx, at, depth+1)
			if ctx.Err() != nil {
				return err
			}
			w.incomplete = w.incomplete || err != nil
		case e.Type().IsRegular():
			if info, err := e.Info(); err == nil { // otherwise it was removed meanwhile
				w.all = append(w.all, Entry{File: at, Bytes: info.Size(), Modified: info.ModTime().UTC()})
			}
		}
	}
	return nil
}

// entries reads the names in a directory, as many as may still be examined.
func (w *walk) entries(name string) ([]fs.DirEntry, error) {
	if w.left <= 0 {
		w.incomplete = true
		return nil, nil
	}
	info, err := w.folder.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, folder.ErrNotFolder
	}
	dir, err := w.folder.OpenDir(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // it was only read
	entries, err := dir.ReadDir(w.left + 1)
	if len(entries) > w.left {
		w.incomplete = true
		entries = entries[:w.left]
	}
	w.left -= len(entries)
	if len(entries) == 0 && err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return entries, nil
}
