package filesystem

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/folder"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/texts"
	"github.com/candor-mcp/candor/codes/common"
)

type pathIn struct {
	Path string `json:"path"`
}

// entry describes a file or directory.
type entry struct {
	Name     string    `json:"name"`
	Type     string    `json:"type"` // file, folder, link or other
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
}

func describe(name string, info fs.FileInfo) entry {
	e := entry{Name: name, Type: "other", Modified: info.ModTime().UTC()}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		e.Type, e.Bytes = "file", info.Size()
	case mode.IsDir():
		e.Type = "folder"
	case mode&fs.ModeSymlink != 0:
		e.Type = "link"
	}
	return e
}

func (f *files) stat(_ context.Context, in pathIn) (entry, error) {
	root, name, err := f.open(in.Path)
	if err != nil {
		return entry{}, err
	}
	info, err := root.Stat(name)
	if err != nil {
		return entry{}, explain(err)
	}
	return describe(name, info), nil
}

type readIn struct {
	Path     string `json:"path"`
	Offset   int64  `json:"offset"`
	MaxBytes int    `json:"maxBytes"`
}

type readOut struct {
	Path       string `json:"path"`
	Encoding   string `json:"encoding"` // utf-8 or base64
	Content    string `json:"content"`
	Offset     int64  `json:"offset"`
	Bytes      int    `json:"bytes"` // of the content before encoding
	Size       int64  `json:"size"`  // of the file
	Truncated  bool   `json:"truncated"`
	NextOffset int64  `json:"nextOffset,omitempty"`
}

func (f *files) read(_ context.Context, in readIn) (readOut, error) {
	root, name, err := f.open(in.Path)
	if err != nil {
		return readOut{}, err
	}
	if info, err := root.Stat(name); err == nil && info.IsDir() {
		return readOut{}, domain.Fail(common.InvalidParams, "path: this is a folder; list it with fs/list", nil)
	}
	file, info, err := root.OpenFile(name)
	if err != nil {
		return readOut{}, explain(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	limit := maxRead
	if in.MaxBytes > 0 {
		limit = min(in.MaxBytes, maxRead)
	}
	content := make([]byte, min(int64(limit), max(info.Size()-in.Offset, 0)))
	n, err := file.ReadAt(content, in.Offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return readOut{}, explain(err)
	}
	return answer(name, content[:n], in.Offset, info.Size()), nil
}

// answer encodes a part of a file. Text that ends in the middle of a character is cut before that character.
func answer(name string, content []byte, offset, size int64) readOut {
	out := readOut{Path: name, Offset: offset, Size: size, Truncated: offset+int64(len(content)) < size}
	if out.Truncated {
		if text := wholeCharacters(content); utf8.Valid(text) {
			content = text
		}
	}
	out.Bytes = len(content)
	if utf8.Valid(content) {
		out.Encoding, out.Content = "utf-8", string(content)
	} else {
		out.Encoding, out.Content = "base64", base64.StdEncoding.EncodeToString(content)
	}
	if out.Truncated {
		out.NextOffset = offset + int64(len(content))
	}
	return out
}

// wholeCharacters drops an incomplete character at the end.
func wholeCharacters(text []byte) []byte {
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if at := len(text) - back; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				return text[:at]
			}
			break
		}
	}
	return text
}

type listIn struct {
	Path   string `json:"path"`
	Limit  int    `json:"limit"`
	Cursor string `json:"cursor"`
}

type listOut struct {
	Path       string  `json:"path"`
	Entries    []entry `json:"entries"`
	Truncated  bool    `json:"truncated"`
	NextCursor string  `json:"nextCursor,omitempty"`
}

const defaultResults = 200

func (f *files) list(_ context.Context, in listIn) (listOut, error) {
	root, name, err := f.open(cmp.Or(in.Path, "."))
	if err != nil {
		return listOut{}, err
	}
	after, err := texts.ParseCursor(in.Cursor)
	if err != nil {
		return listOut{}, err
	}
	found, err := entries(root, name)
	if err != nil {
		return listOut{}, err
	}
	at, exact := slices.BinarySearchFunc(found, after, func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
	if exact {
		at++ // the cursor has the last name of the previous answer
	}
	rest, limit := found[at:], min(cmp.Or(in.Limit, defaultResults), maxResults)
	out := listOut{Path: name, Entries: []entry{}}
	if out.Truncated = len(rest) > limit; out.Truncated {
		rest = rest[:limit]
		out.NextCursor = texts.Cursor(rest[limit-1].Name())
	}
	for _, e := range rest {
		if info, err := e.Info(); err == nil { // otherwise it was removed meanwhile
			out.Entries = append(out.Entries, describe(e.Name(), info))
		}
	}
	return out, nil
}

func (f *files) search(ctx context.Context, in texts.Query) (texts.Found, error) {
	if in.Q == "" && in.Glob == "" {
		return texts.Found{}, domain.Fail(common.InvalidParams, "give q, glob or both", nil)
	}
	root, name, err := f.open(cmp.Or(in.Path, "."))
	if err != nil {
		return texts.Found{}, err
	}
	if in.Path = name; name == "." {
		in.Path = ""
	}
	out, err := texts.Search(ctx, root, in)
	if err != nil && !candor.CodeOf(err).Valid() {
		err = cmp.Or(ctx.Err(), explain(err))
	}
	return out, err
}

// give returns the content of a file for another domain.
func (f *files) give(path string) ([]byte, error) {
	root, name, err := f.open(path)
	if err != nil {
		return nil, err
	}
	file, _, err := root.OpenFile(name)
	if err != nil {
		return nil, explain(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	content, err := io.ReadAll(io.LimitReader(file, domain.MaxGiven+1))
	if err != nil {
		return nil, explain(err)
	}
	return content, nil
}

// entries returns the entries of a directory, sorted by name.
func entries(root *folder.Folder, name string) ([]fs.DirEntry, error) {
	if info, err := root.Stat(name); err == nil && !info.IsDir() {
		return nil, domain.Fail(common.InvalidParams, "path: not a folder", nil)
	}
	dir, err := root.OpenDir(name)
	if err != nil {
		return nil, explain(err)
	}
	defer dir.Close() //nolint:errcheck // it was only read
	found, err := dir.ReadDir(maxEntries + 1)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, explain(err)
	case len(found) > maxEntries:
		return nil, domain.Fail(common.LimitExceeded, fmt.Sprintf("the folder has more than %d entries", maxEntries), nil)
	}
	slices.SortFunc(found, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return found, nil
}
