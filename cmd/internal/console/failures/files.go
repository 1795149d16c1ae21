package failures

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// The files of a chain, see spec/ledger.md.
const (
	activeName    = "audit-log.jsonl"
	closedPrefix  = "audit-log."
	closedSuffix  = ".jsonl"
	packedSuffix  = ".gz"
	endName       = "end"
	maxLine       = 2 << 20
	chainTailSize = len("-20261115T040506789Z-0123abcd")
)

// isChain reports whether a folder is named like a chain: INSTANCE-20261115T040506789Z-0123abcd.
func isChain(name string) bool {
	if len(name) <= chainTailSize || strings.Trim(name, "-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return false
	}
	tail := name[len(name)-chainTailSize:]
	return tail[0] == '-' && tail[9] == 'T' && tail[19] == 'Z' && tail[20] == '-'
}

// closedNumber parses names such as audit-log.000001.jsonl and audit-log.000001.jsonl.gz.
func closedNumber(name string) (number int, packed, ok bool) {
	name, packed = strings.CutSuffix(name, packedSuffix)
	digits, isSegment := strings.CutSuffix(name, closedSuffix)
	digits, isClosed := strings.CutPrefix(digits, closedPrefix)
	number, err := strconv.Atoi(digits)
	return number, packed, isSegment && isClosed && err == nil && number > 0 && fmt.Sprintf("%06d", number) == digits
}

// file is a segment's file. Its number is 0 if it is the active one.
type file struct {
	number int
	name   string // relative to the ledger's folder
	packed bool
	info   fs.FileInfo
}

// listing is the content of a chain's folder.
type listing struct {
	closed []file // in order
	active *file
	ended  bool // the writer has exited, and another one has noted how
}

// last returns the number of the last closed segment.
func (l *listing) last() int {
	if len(l.closed) == 0 {
		return 0
	}
	return l.closed[len(l.closed)-1].number
}

// listChain lists the files of a chain. Of a segment that is there both plain and compressed it returns the plain one.
func listChain(fsys fs.FS, chain string) (listing, error) {
	items, err := fs.ReadDir(fsys, chain)
	if err != nil {
		return listing{}, err
	}
	var l listing
	byNumber := map[int]file{}
	for _, item := range items {
		number, packed, closed := closedNumber(item.Name())
		isActive := item.Name() == activeName
		l.ended = l.ended || item.Name() == endName
		if !closed && !isActive {
			continue
		}
		info, err := item.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return listing{}, err
		}
		if !info.Mode().IsRegular() { // opening a pipe would block
			continue
		}
		f := file{number: number, name: chain + "/" + item.Name(), packed: packed, info: info}
		if isActive {
			l.active = &f
		} else if other, twice := byNumber[number]; !twice || other.packed {
			byNumber[number] = f
		}
	}
	for _, f := range byNumber {
		l.closed = append(l.closed, f)
	}
	slices.SortFunc(l.closed, func(a, b file) int { return a.number - b.number })
	return l, nil
}

// listAfter is listChain for a reader that has read the closed segments up to a number. A list that is read while a
// segment is being compressed may miss both of its names, so a list with a gap after that number is read again.
func listAfter(fsys fs.FS, chain string, number int) (l listing, err error) {
	const attempts = 4
	for range attempts {
		if l, err = listChain(fsys, chain); err != nil {
			return l, err
		}
		i := slices.IndexFunc(l.closed, func(f file) bool { return f.number > number })
		if i < 0 || l.closed[i].number == number+1 {
			break
		}
	}
	return l, nil
}

// lines reads lines of one file at increasing offsets of its uncompressed bytes.
type lines struct {
	in     *bufio.Reader
	seeker io.Seeker // nil if the file is compressed
	closer io.Closer
	at     int64 // offset of in
	long   []byte
}

// countingReader adds the bytes that are read to a counter.
type countingReader struct {
	io.Reader
	count *atomic.Int64
}

func (c countingReader) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.count.Add(int64(n))
	return n, err
}

// openLines opens a file. The bytes read from it are added to count, which may be nil.
func openLines(fsys fs.FS, f *file, buffer int, count *atomic.Int64) (*lines, error) {
	opened, err := fsys.Open(f.name)
	if err != nil {
		return nil, err
	}
	l := &lines{closer: opened}
	var in io.Reader = opened
	if count != nil {
		in = countingReader{opened, count}
	}
	if f.packed {
		in = &unpacker{in: in}
	} else {
		l.seeker, _ = opened.(io.Seeker)
	}
	l.in = bufio.NewReaderSize(in, buffer)
	return l, nil
}

// unpacker decompresses a segment. It reads the header with the first bytes, so that a damaged header is an error of
// reading and not of opening.
type unpacker struct {
	in  io.Reader
	zip *gzip.Reader
	err error
}

func (u *unpacker) Read(b []byte) (int, error) {
	if u.zip == nil && u.err == nil {
		u.zip, u.err = gzip.NewReader(u.in)
		if errors.Is(u.err, io.EOF) {
			u.err = gzip.ErrHeader // an empty file is not a segment
		}
	}
	if u.err != nil {
		return 0, u.err
	}
	return u.zip.Read(b)
}

func (l *lines) close() { _ = l.closer.Close() } // only read

// skipTo moves on to an offset.
func (l *lines) skipTo(off int64) error {
	gap := off - l.at
	if l.seeker != nil && gap > int64(l.in.Buffered()) {
		if _, err := l.seeker.Seek(off, io.SeekStart); err != nil {
			return err
		}
		if r, ok := l.seeker.(io.Reader); ok {
			l.in.Reset(r)
			l.at = off
			return nil
		}
	}
	n, err := io.CopyN(io.Discard, l.in, gap)
	l.at += n
	return err
}

// errLong means that a line is longer than a ledger writes.
var errLong = errors.New("line too long")

// next returns the next whole line without its line feed, and its offset. The line is valid until the next call. The
// error is io.EOF if there is no whole line now.
func (l *lines) next() (line []byte, off int64, err error) {
	off, l.long = l.at, l.long[:0]
	for {
		part, err := l.in.ReadSlice('\n')
		l.at += int64(len(part))
		switch {
		case err == nil && len(l.long) == 0:
			return part[:len(part)-1], off, nil
		case len(l.long)+len(part) > maxLine:
			return nil, off, errLong
		}
		l.long = append(l.long, part...)
		if err == nil {
			return l.long[:len(l.long)-1], off, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, off, err
		}
	}
}
