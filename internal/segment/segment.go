// Package segment reads the files of a chain as lines, while they are written, rotated and compressed.
package segment

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/candor-mcp/candor/internal/segment/format"
)

// File is a closed segment of a chain.
type File struct {
	Number int
	Name   string // relative to the ledger's folder
	Packed bool   // compressed
	Twice  bool   // exists both plain and compressed, as between compressing a segment and removing the plain file
}

// List returns the closed segments of a chain in order. If a segment exists in both forms it returns the plain one.
func List(fsys fs.FS, chain string) ([]File, error) {
	list, err := fs.ReadDir(fsys, chain)
	if err != nil {
		return nil, fmt.Errorf("listing chain %s: %w", chain, err)
	}
	return Among(list, chain), nil
}

// Among returns the closed segments among the files of a chain, as List does.
func Among(list []fs.DirEntry, chain string) []File {
	byNumber := map[int]File{}
	for _, item := range list {
		number, packed, ok := format.SegmentNumber(item.Name())
		if !ok {
			continue
		}
		found := File{Number: number, Name: chain + "/" + item.Name(), Packed: packed}
		if other, double := byNumber[number]; double {
			if packed {
				found = other
			}
			found.Twice = true
		}
		byNumber[number] = found
	}
	segments := make([]File, 0, len(byNumber))
	for _, s := range byNumber {
		segments = append(segments, s)
	}
	slices.SortFunc(segments, func(a, b File) int { return a.Number - b.Number })
	return segments
}

// ErrNoLedger means that a folder does not contain a ledger. A writer creates the key first, so that even a new
// ledger has one.
var ErrNoLedger = errors.New("not a ledger: no chain and no key in the folder")

// Chains returns the names of the chains in a folder, sorted. It ignores entries that are not named like a chain.
func Chains(fsys fs.FS) ([]string, error) {
	list, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("listing the ledger: %w", err)
	}
	var names []string
	for _, item := range list {
		if item.IsDir() && format.LooksLikeChain(item.Name()) {
			names = append(names, item.Name())
		}
	}
	return names, nil
}

// OpenFile opens a file of entries. It checks that it is a regular file, because opening a pipe would block the
// reader.
func OpenFile(fsys fs.FS, name string, packed bool) (io.ReadCloser, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is not a regular file", ErrCorrupt, name)
	}
	file, err := fsys.Open(name)
	if err != nil || !packed {
		return file, err
	}
	return &packedFile{file: file}, nil
}

// FirstLine returns the first line of a segment. The error is io.EOF if it has none.
func FirstLine(fsys fs.FS, f File) ([]byte, error) {
	in, err := OpenFile(fsys, f.Name, f.Packed)
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // it is only read
	line, _, err := NewLineBuffer(in, NoteBuffer).Next()
	return line, err
}

// packedFile reads a compressed segment. A decompression error is damage.
type packedFile struct {
	file fs.File
	zip  *gzip.Reader
	err  error
}

// Read returns uncompressed bytes.
func (p *packedFile) Read(b []byte) (int, error) {
	if p.zip == nil && p.err == nil {
		p.zip, p.err = gzip.NewReader(p.file)
	}
	if p.err != nil {
		return 0, asCorrupt(p.err)
	}
	n, err := p.zip.Read(b)
	return n, asCorrupt(err)
}

// Close closes the file.
func (p *packedFile) Close() error { return p.file.Close() }

func asCorrupt(err error) error {
	var bad flate.CorruptInputError
	switch {
	case err == nil, errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &bad):
		return fmt.Errorf("%w: cannot be decompressed: %v", ErrCorrupt, err)
	}
	return err
}
