package ship

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/candor-mcp/candor/internal/segment/format"
)

// maxHead is more than the members of a line up to its number take.
const maxHead = 512

// settled is the folder of the ledger for the reader of one chain, in which the active segment ends with the last durable entry. What follows
// may be removed and written again, as when the disk is full. A line that was read before that would be shipped although the
// ledger does not have it.
type settled struct {
	fs.FS
	limit func() (durable uint64, ended bool)
}

// Open implements [fs.FS].
func (s settled) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, "/"+format.ActiveSegment) {
		return f, err
	}
	at, ok := f.(io.ReaderAt)
	if !ok {
		return f, nil
	}
	return &settledFile{File: f, at: at, name: name, in: s}, nil
}

// Stat implements [fs.StatFS].
func (s settled) Stat(name string) (fs.FileInfo, error) { return fs.Stat(s.FS, name) }

// ReadDir implements [fs.ReadDirFS].
func (s settled) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(s.FS, name) }

// settledFile is the active segment up to the last durable entry.
type settledFile struct {
	fs.File
	at     io.ReaderAt
	name   string
	in     settled
	offset int64
	seq    uint64 // of the line at offset; 0 before the first line was found
	free   bool   // the rest of the file does not change any more, or its first line is damaged
}

// Read implements [io.Reader].
func (f *settledFile) Read(b []byte) (int, error) {
	n, err := f.read(b)
	if n > 0 || f.free || err != nil && !errors.Is(err, io.EOF) {
		return n, err
	}
	// The reader continues with the next segment when this one is not the active one any more, so all of it has to be returned then.
	if f.free, err = f.complete(); err != nil {
		return 0, err
	}
	if !f.free {
		return 0, io.EOF
	}
	return f.read(b)
}

// read reads what may be read now. It asks for the limit before it reads, so that what it returns was durable then.
func (f *settledFile) read(b []byte) (int, error) {
	durable, ended := f.in.limit()
	f.free = f.free || ended
	if !f.free && f.seq == 0 {
		if err := f.first(); err != nil {
			return 0, err
		}
	}
	if !f.free && f.seq > durable {
		return 0, io.EOF
	}
	n, err := f.at.ReadAt(b, f.offset)
	if !f.free {
		n = f.cut(b[:n], durable)
	}
	f.offset += int64(n)
	if n > 0 {
		return n, nil
	}
	return 0, err
}

// complete reports whether the segment was renamed or removed: it gets no more lines then, and loses none.
func (f *settledFile) complete() (bool, error) {
	is, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := f.in.Stat(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return err == nil && !os.SameFile(is, named), err
}

// first finds the number of the first line.
func (f *settledFile) first() error {
	head := make([]byte, maxHead)
	n, err := f.at.ReadAt(head, 0)
	seq, ok := numberOf(head[:n])
	switch {
	case ok:
		f.seq = seq
	case n == maxHead || bytes.IndexByte(head[:n], '\n') >= 0:
		f.free = true // the reader reports it
	default:
		return err
	}
	return nil
}

// numberOf returns the number of the entry in a line that begins with head.
func numberOf(head []byte) (seq uint64, ok bool) {
	_, rest, _ := bytes.Cut(head, []byte(`","seq":`))
	digits, _, ok := bytes.Cut(rest, []byte(","))
	seq, err := strconv.ParseUint(string(digits), 10, 64)
	return seq, ok && err == nil && seq > 0
}

// cut returns the number of bytes up to the end of the last durable line, and counts the lines.
func (f *settledFile) cut(b []byte, durable uint64) int {
	n := 0
	for n < len(b) && f.seq <= durable {
		end := bytes.IndexByte(b[n:], '\n')
		if end < 0 {
			return len(b)
		}
		n += end + 1
		f.seq++
	}
	return n
}
