package memorybank

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/folder"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	memorybankcode "github.com/candor-mcp/candor/codes/memorybank"
)

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
	content, info, err := readText(f, name)
	if err != nil {
		return readOut{}, explain(err)
	}
	return readOut{File: name, Content: string(content), Bytes: len(content), Modified: info.ModTime().UTC()}, nil
}

var (
	errTooLarge = errors.New("the file is too large")
	errNotText  = errors.New("the file is not valid UTF-8")
)

// readText reads a text file of limited size. It follows no links.
func readText(f *folder.Folder, name string) ([]byte, fs.FileInfo, error) {
	file, info, err := f.OpenLiteral(name)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	if info.Size() > maxFile {
		return nil, nil, errTooLarge
	}
	// The size is checked again while reading, because the file may grow.
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		return nil, nil, err
	case len(content) > maxFile:
		return nil, nil, errTooLarge
	case !utf8.Valid(content):
		return nil, nil, errNotText
	}
	return content, info, nil
}

func notFound(cause error) error {
	return domain.Fail(memorybankcode.FileNotFound, "", cause)
}

// explain converts an error of reading to one with a code. Links and escapes are reported as "not found".
func explain(err error) error {
	fail := func(details string) error { return domain.Fail(memorybankcode.Read, details, err) }
	switch {
	case errors.Is(err, errTooLarge):
		return fail(fmt.Sprintf("the file is larger than %d bytes", maxFile))
	case errors.Is(err, errNotText):
		return fail("the file is not valid UTF-8")
	case errors.Is(err, folder.ErrNotRegular):
		return fail("this is a folder or a special file, not a text")
	case errors.Is(err, fs.ErrPermission):
		return fail("the server has no permission to read the file")
	case errors.Is(err, folder.ErrChanged):
		return domain.Fail(memorybankcode.Read, "the file was replaced during the call", err, candor.WithRetry(candor.RetryNow()))
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, folder.ErrEscape), errors.Is(err, folder.ErrLink), errors.Is(err, folder.ErrPrivate), errors.Is(err, folder.ErrNotFolder):
		return notFound(err)
	}
	return fail("reading failed")
}
