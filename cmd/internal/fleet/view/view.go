// Package view presents the lines of a store as the folder of a ledger, so that what reads and verifies a folder reads and verifies a
// fleet. [Verify] verifies every node by itself and compares it with the operator's [Checkpoint].
package view

import (
	"context"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/segment/format"
)

// FS is the chains of a store as a file system: one folder per chain, with one file of entries that is read from the store as it is
// read from the file. The files grow with the chains.
type FS struct {
	ctx    context.Context //nolint:containedctx // a file system has no other way to end a read
	store  fleet.Store
	chains map[string]fleet.Chain
	names  []string
	grows  bool // the list of chains grows too
}

var (
	_ fs.ReadDirFS = (*FS)(nil)
	_ fs.StatFS    = (*FS)(nil)
)

// New returns the file system of some chains. If two of them have the same name, it holds the first. Reads end with the context.
func New(ctx context.Context, store fleet.Store, chains []fleet.Chain) *FS {
	v := &FS{ctx: ctx, store: store, chains: make(map[string]fleet.Chain, len(chains))}
	v.add(chains)
	return v
}

// Grow makes the file system follow the store: from now on the list of chains is read again whenever the folder is listed, and errors that
// may pass look as if nothing had been added. It is then not safe for concurrent use.
func (v *FS) Grow() { v.grows = true }

// waits reports whether an error is taken for the lack of news.
func (v *FS) waits(err error) bool {
	return v.grows && (fleet.IsTemporary(err) || v.ctx.Err() != nil)
}

func (v *FS) add(chains []fleet.Chain) {
	for _, c := range chains {
		if _, twice := v.chains[c.Name]; !twice {
			v.chains[c.Name] = c
			v.names = append(v.names, c.Name)
		}
	}
	slices.Sort(v.names)
}

// Node returns the name of the node that writes a chain, or "" if the file system does not hold the chain.
func (v *FS) Node(chain string) string { return v.chains[chain].Node }

// Open opens a folder or the file of a chain.
func (v *FS) Open(name string) (fs.File, error) {
	about, err := v.Stat(name)
	if err != nil {
		return nil, err
	}
	if about.IsDir() {
		return folder{about}, nil
	}
	chain, _, _ := strings.Cut(name, "/")
	return &file{info: about, fsys: v, chain: v.chains[chain]}, nil
}

// Stat describes a folder or a file. The size of a file is unknown and given as 0.
func (v *FS) Stat(name string) (fs.FileInfo, error) {
	chain, base, below := strings.Cut(name, "/")
	_, known := v.chains[chain]
	switch {
	case name == ".", known && !below:
		return info{name: name, mode: fs.ModeDir | 0o500}, nil
	case known && base == format.ActiveSegment:
		return info{name: base, mode: 0o400}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadDir lists the chains, or the file of a chain.
func (v *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == "." {
		if v.grows {
			chains, err := v.store.Chains(v.ctx)
			if err != nil && !v.waits(err) {
				return nil, err
			}
			v.add(chains)
		}
		list := make([]fs.DirEntry, 0, len(v.names))
		for _, chain := range v.names {
			list = append(list, fs.FileInfoToDirEntry(info{name: chain, mode: fs.ModeDir | 0o500}))
		}
		return list, nil
	}
	if _, known := v.chains[name]; !known {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return []fs.DirEntry{fs.FileInfoToDirEntry(info{name: format.ActiveSegment, mode: 0o400})}, nil
}

// file reads the lines of a chain. At the end of the chain Read returns io.EOF, and after that the lines that were stored meanwhile.
type file struct {
	info     fs.FileInfo
	fsys     *FS
	chain    fleet.Chain
	next     func() (fleet.Stored, error, bool)
	stop     func()
	position uint64 // of the last line
	line     []byte // of which rest was not returned yet
	rest     []byte
	ended    bool // the end was reached, and not reported yet
}

// Stat describes the file.
func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close ends the reading of the store.
func (f *file) Close() error {
	if f.stop != nil {
		f.stop()
		f.next, f.stop = nil, nil
	}
	return nil
}

// Read fills p with lines, each followed by a line feed.
func (f *file) Read(p []byte) (n int, err error) {
	if f.ended {
		f.ended = false
		return 0, io.EOF
	}
	for n < len(p) {
		if len(f.rest) == 0 {
			err = f.advance()
		}
		if err == io.EOF && n > 0 { //nolint:errorlint // advance returns it as it is
			f.ended = true
			return n, nil
		}
		if err != nil {
			return n, err
		}
		c := copy(p[n:], f.rest)
		f.rest, n = f.rest[c:], n+c
	}
	return n, nil
}

// advance gets the next line from the store. A line feed inside a line would make two entries of one, so it is replaced, which
// makes the line invalid.
func (f *file) advance() error {
	if f.next == nil {
		f.next, f.stop = iter.Pull2(f.fsys.store.Lines(f.fsys.ctx, f.chain, f.position))
	}
	stored, err, more := f.next()
	if !more || err != nil {
		_ = f.Close() // always nil
		if err == nil || f.fsys.waits(err) {
			err = io.EOF
		}
		return err
	}
	f.position = stored.Position
	f.line = append(append(f.line[:0], stored.Line...), '\n')
	for i, c := range f.line[:len(f.line)-1] {
		if c == '\n' {
			f.line[i] = 0
		}
	}
	f.rest = f.line
	return nil
}

// folder is an open folder, which is listed with ReadDir of the file system.
type folder struct{ info fs.FileInfo }

// Stat describes the folder.
func (d folder) Stat() (fs.FileInfo, error) { return d.info, nil }

// Read fails: a folder has no bytes.
func (d folder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.Name(), Err: fs.ErrInvalid}
}

// Close does nothing.
func (d folder) Close() error { return nil }

type info struct {
	name string
	mode fs.FileMode
}

// Name returns the base name.
func (i info) Name() string { return i.name }

// Size returns 0: the store is not asked for it.
func (i info) Size() int64 { return 0 }

// Mode returns the type and the permissions.
func (i info) Mode() fs.FileMode { return i.mode }

// ModTime returns the zero time.
func (i info) ModTime() time.Time { return time.Time{} }

// IsDir reports whether it is a folder.
func (i info) IsDir() bool { return i.mode.IsDir() }

// Sys returns nil.
func (i info) Sys() any { return nil }
