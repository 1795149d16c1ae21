package memorybank

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
)

type listIn struct {
	Cursor string `json:"cursor"`
	Limit  int    `json:"limit"`
}

type listOut struct {
	Files      []entry `json:"files"`
	Truncated  bool    `json:"truncated"`
	NextCursor string  `json:"nextCursor,omitempty"`
	// Incomplete is set if the bank has more files or deeper directories than one call examines.
	Incomplete bool `json:"incomplete,omitempty"`
}

type entry struct {
	File     string    `json:"file"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
}

const defaultResults = 100

func (b *bank) list(ctx context.Context, in listIn) (listOut, error) {
	all, incomplete, err := b.files(ctx)
	if err != nil {
		return listOut{}, err
	}
	at, found := slices.BinarySearchFunc(all, in.Cursor, func(e entry, name string) int { return strings.Compare(e.File, name) })
	if found {
		at++ // the cursor is the last file of the previous answer
	}
	rest, limit := all[at:], limitOf(in.Limit)
	out := listOut{Files: rest[:min(limit, len(rest))], Truncated: len(rest) > limit, Incomplete: incomplete}
	if out.Truncated {
		out.NextCursor = out.Files[limit-1].File
	}
	return out, nil
}

// limitOf returns the number of results that a call asks for.
func limitOf(limit int) int { return min(cmp.Or(limit, defaultResults), maxResults) }

// files returns the regular files of the bank, sorted by name. It omits hidden files and directories, and symbolic
// links. incomplete is true if a limit was reached or a directory could not be read.
func (b *bank) files(ctx context.Context) (all []entry, incomplete bool, err error) {
	f, err := b.open()
	if err != nil {
		return nil, false, err
	}
	w := walk{folder: f, left: maxFiles, all: []entry{}}
	if err := w.add(ctx, ".", 0); err != nil {
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		return nil, false, explain(err)
	}
	slices.SortFunc(w.all, func(a, b entry) int { return strings.Compare(a.File, b.File) })
	return w.all, w.incomplete, nil
}

// walk collects the files of a directory.
type walk struct {
	folder     *folder.Folder
	left       int // entries that may still be examined
	all        []entry
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
				w.all = append(w.all, entry{File: at, Bytes: info.Size(), Modified: info.ModTime().UTC()})
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
		return nil, errors.New("the folder was replaced")
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
