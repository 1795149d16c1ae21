package memorybank

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/folder"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/texts"
	memorybankcode "github.com/candor-mcp/candor/codes/memorybank"
)

type listIn struct {
	Cursor string `json:"cursor"`
	Limit  int    `json:"limit"`
}

type listOut struct {
	Files      []texts.Entry `json:"files"`
	Truncated  bool          `json:"truncated"`
	NextCursor string        `json:"nextCursor,omitempty"`
	// Incomplete is set if the bank has more files or deeper directories than one call examines.
	Incomplete bool `json:"incomplete,omitempty"`
}

func (b *bank) list(ctx context.Context, in listIn) (listOut, error) {
	after, err := texts.ParseCursor(in.Cursor)
	if err != nil {
		return listOut{}, err
	}
	f, err := b.open()
	if err != nil {
		return listOut{}, err
	}
	all, incomplete, err := texts.Files(ctx, f, "")
	if err != nil {
		return listOut{}, explain(err)
	}
	at, found := slices.BinarySearchFunc(all, after, func(e texts.Entry, name string) int { return strings.Compare(e.File, name) })
	if found {
		at++ // the cursor has the last file of the previous answer
	}
	rest, limit := all[at:], texts.LimitOf(in.Limit)
	out := listOut{Files: rest[:min(limit, len(rest))], Truncated: len(rest) > limit, Incomplete: incomplete}
	if out.Truncated {
		out.NextCursor = texts.Cursor(out.Files[limit-1].File)
	}
	return out, nil
}

func (b *bank) search(ctx context.Context, in texts.Query) (texts.Found, error) {
	f, err := b.open()
	if err != nil {
		return texts.Found{}, err
	}
	out, err := texts.Search(ctx, f, in)
	return out, explain(err)
}

type readIn struct {
	File string `json:"file"`
}

type readOut struct {
	File     string    `json:"file"`
	Content  string    `json:"content"`
	Bytes    int       `json:"bytes"`
	Modified time.Time `json:"modified"`
}

func (b *bank) read(_ context.Context, in readIn) (readOut, error) {
	name, err := folder.Parse(in.File)
	if err != nil || name == "." {
		return readOut{}, notFound(err)
	}
	f, err := b.open()
	if err != nil {
		return readOut{}, err
	}
	content, info, err := texts.Read(f, name)
	if err != nil {
		return readOut{}, explain(err)
	}
	return readOut{File: name, Content: string(content), Bytes: len(content), Modified: info.ModTime().UTC()}, nil
}

// give returns the content of a file for another domain.
func (b *bank) give(file string) ([]byte, error) {
	out, err := b.read(context.Background(), readIn{file})
	return []byte(out.Content), err
}

func notFound(cause error) error {
	return domain.Fail(memorybankcode.FileNotFound, "", cause)
}

// explain converts an error of reading to one with a code. Links and escapes are reported as "not found".
func explain(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || candor.CodeOf(err).Valid() {
		return err
	}
	fail := func(details string) error { return domain.Fail(memorybankcode.Read, details, err) }
	other := candor.WithSuggestion("List the files with mb/list and read another one.")
	switch {
	case errors.Is(err, texts.ErrTooLarge):
		return domain.Fail(memorybankcode.Read, fmt.Sprintf("the file is larger than %d bytes", texts.MaxFile), err, other)
	case errors.Is(err, texts.ErrNotText):
		return domain.Fail(memorybankcode.Read, "the file is not valid UTF-8", err, other)
	case errors.Is(err, folder.ErrNotRegular):
		return domain.Fail(memorybankcode.Read, "this is a folder or a special file, not a text", err, other)
	case errors.Is(err, fs.ErrPermission):
		return fail("the server has no permission to read the file")
	case errors.Is(err, folder.ErrChanged):
		return domain.Fail(memorybankcode.Read, "the file was replaced during the call", err, candor.WithRetry(candor.RetryNow()))
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, folder.ErrEscape), errors.Is(err, folder.ErrLink), errors.Is(err, folder.ErrPrivate), errors.Is(err, folder.ErrNotFolder):
		return notFound(err)
	}
	return fail("reading failed")
}
