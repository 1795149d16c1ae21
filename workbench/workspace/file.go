package workspace

import (
	"errors"
	"io/fs"
)

// File is a file as it was read in one go.
type File struct {
	Path    Path
	Content []byte
	Hash    string // SHA-256 of Content, 64 lower-case hex digits
	Mode    fs.FileMode
	Size    int64
}

// Read reads a whole file.
func (f *Folder) Read(p Path) (File, error) { return File{}, errors.ErrUnsupported }
