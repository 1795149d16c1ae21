package texts

import (
	"errors"
	"io"
	"io/fs"
	"unicode/utf8"

	"github.com/candor-mcp/candor/cmd/internal/workbench/folder"
)

// Errors of [Read].
var (
	ErrTooLarge = errors.New("the file is too large")
	ErrNotText  = errors.New("the file is not valid UTF-8")
)

// Read reads a text file of limited size. It follows no links.
func Read(f *folder.Folder, name string) ([]byte, fs.FileInfo, error) {
	file, info, err := f.OpenLiteral(name)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	if info.Size() > MaxFile {
		return nil, nil, ErrTooLarge
	}
	// The size is checked again while reading, because the file may grow.
	content, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	switch {
	case err != nil:
		return nil, nil, err
	case len(content) > MaxFile:
		return nil, nil, ErrTooLarge
	case !utf8.Valid(content):
		return nil, nil, ErrNotText
	}
	return content, info, nil
}
