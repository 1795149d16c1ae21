package failures

import (
	"bufio"
	"encoding/binary"
	"io"
)

// rowSize is the size of a row in the copy.
const rowSize = 40

// cacheWriter encodes a copy. Errors are kept by the bufio.Writer.
type cacheWriter struct {
	out  *bufio.Writer
	temp [rowSize]byte
}

func (w *cacheWriter) number(n uint64) {
	_, _ = w.out.Write(binary.AppendUvarint(w.temp[:0], n))
}

func (w *cacheWriter) text(s string) {
	w.number(uint64(len(s)))
	_, _ = w.out.WriteString(s)
}

func (w *cacheWriter) flags(flags ...bool) {
	n := uint64(0)
	for i, set := range flags {
		if set {
			n |= 1 << i
		}
	}
	w.number(n)
}

func (w *cacheWriter) group(g *group) {
	w.flags(g.more, g.all)
	for _, name := range g.names() {
		w.text(*name)
	}
}

func (w *cacheWriter) segment(s *segment) {
	w.text(s.chain)
	for _, n := range s.numbers() {
		w.number(*n)
	}
	w.flags(s.broken, s.closed, s.source.packed)
	_, _ = w.out.Write(s.hash[:])
	for _, n := range []int64{int64(s.number), s.end, s.tail, s.source.size, s.source.modified, int64(len(s.rows))} {
		w.number(uint64(n)) //nolint:gosec // read back the same way
	}
	for i := range s.rows {
		_, _ = w.out.Write(s.rows[i].append(w.temp[:0]))
	}
}

// numbers returns the members that are stored as they are.
func (s *segment) numbers() []*uint64 { return []*uint64{&s.base, &s.lastSeq, &s.skipped} }

func (r *row) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(r.time)) //nolint:gosec // read back the same way
	b = binary.LittleEndian.AppendUint64(b, uint64(r.off))  //nolint:gosec // read back the same way
	b = binary.LittleEndian.AppendUint64(b, r.session)
	b = binary.LittleEndian.AppendUint64(b, r.ref)
	b = binary.LittleEndian.AppendUint32(b, r.group)
	return binary.LittleEndian.AppendUint32(b, r.seq)
}

func (r *row) read(b []byte) {
	r.time = int64(binary.LittleEndian.Uint64(b))    //nolint:gosec // as written
	r.off = int64(binary.LittleEndian.Uint64(b[8:])) //nolint:gosec // as written
	r.session = binary.LittleEndian.Uint64(b[16:])
	r.ref = binary.LittleEndian.Uint64(b[24:])
	r.group = binary.LittleEndian.Uint32(b[32:])
	r.seq = binary.LittleEndian.Uint32(b[36:])
}

// cacheReader decodes a copy. After the first error err is set and all values are zero.
type cacheReader struct {
	in  *bufio.Reader
	err error
}

func (r *cacheReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *cacheReader) number() uint64 {
	if r.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(r.in)
	if err != nil {
		r.fail(err)
		return 0
	}
	return n
}

// count returns a number that memory is allocated for.
func (r *cacheReader) count() int {
	n := r.number()
	if n > maxCached {
		r.fail(errCache)
		return 0
	}
	return int(n)
}

func (r *cacheReader) full(b []byte) {
	if r.err == nil {
		_, err := io.ReadFull(r.in, b)
		r.fail(err)
	}
}

func (r *cacheReader) text() string {
	const longest = 64 << 10
	n := r.count()
	if n > longest {
		r.fail(errCache)
		return ""
	}
	b := make([]byte, n)
	r.full(b)
	return string(b)
}

// cache reads the whole copy of the ledger in dir.
func (r *cacheReader) cache(dir string) (*cache, []group, error) {
	if r.text() != cacheMagic || r.text() != dir {
		return nil, nil, errCache
	}
	var groups []group
	for range r.count() {
		if r.err != nil {
			return nil, nil, r.err
		}
		flags := r.number()
		g := group{more: flags&1 != 0, all: flags&2 != 0}
		for _, name := range g.names() {
			*name = r.text()
		}
		groups = append(groups, g)
	}
	c := &cache{segments: map[cacheKey]*segment{}}
	for range r.count() {
		s := r.segment(len(groups))
		if r.err != nil {
			return nil, nil, r.err
		}
		c.segments[cacheKey{s.chain, s.number}] = s
	}
	return c, groups, r.err
}

func (r *cacheReader) segment(groups int) *segment {
	s := &segment{chain: r.text()}
	for _, n := range s.numbers() {
		*n = r.number()
	}
	flags := r.number()
	s.broken, s.closed, s.source.packed = flags&1 != 0, flags&2 != 0, flags&4 != 0
	r.full(s.hash[:])
	s.number = r.count()
	for _, n := range []*int64{&s.end, &s.tail, &s.source.size, &s.source.modified} {
		*n = int64(r.number()) //nolint:gosec // as written
	}
	var b [rowSize]byte
	for left := r.count(); left > 0 && r.err == nil; left-- {
		if len(s.rows) == cap(s.rows) { // grow as the file proves to have the rows
			s.rows = append(make([]row, 0, min(len(s.rows)+left, max(2*len(s.rows), 1<<16))), s.rows...)
		}
		r.full(b[:])
		var x row
		if x.read(b[:]); int(x.group) >= groups {
			r.fail(errCache)
			return s
		}
		s.rows = append(s.rows, x)
	}
	return s
}
