package failures

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/candor-mcp/candor/ledger"
)

// row is a failure in memory: 40 bytes, from which filters are answered. All else is read from the ledger.
type row struct {
	time    int64  // microseconds
	off     int64  // of the line in its uncompressed segment
	session uint64 // hash of the session, 0 if there is none
	ref     uint64 // the first 8 bytes of the ref
	group   uint32
	seq     uint32 // after the base of the segment
}

// sessionHash returns the hash that stands for a session. A client chooses the name of its session, so the hash must
// not be one for which two names with the same value are easily found.
func sessionHash[T string | []byte](session T) uint64 {
	if len(session) == 0 {
		return 0
	}
	sum := sha256.Sum256([]byte(session))
	return max(1, binary.LittleEndian.Uint64(sum[:]))
}

// refHead returns the first 8 bytes of a ref.
func refHead[T string | []byte](ref T) uint64 {
	var head [8]byte
	copy(head[:], ref)
	return binary.BigEndian.Uint64(head[:])
}

// segment is the part of the index about one file of a chain. Rows are only appended, so that a reader that has the
// slice needs no lock.
type segment struct {
	chain string
	// The following are guarded by the lock of the index.
	number int // 0 while the file is the active one
	base   uint64
	rows   []row

	// The following belong to the goroutine that reads the file.
	end     int64     // offset after the last whole line that was read
	tail    int64     // offset of the last valid line
	hash    [8]byte   // begin of its hash, to recognise the file after it was renamed
	lastSeq uint64    // its number
	broken  bool      // the rest of the file cannot be read
	closed  bool      // the last line closed the chain
	skipped uint64    // malformed lines
	added   int64     // bytes that were read and are not in the cache
	source  fileStamp // the file before it was read
}

// fileStamp recognises a file that has not changed.
type fileStamp struct {
	size, modified int64
	packed         bool
}

func stampOf(f *file) fileStamp {
	return fileStamp{size: f.info.Size(), modified: f.info.ModTime().UnixNano(), packed: f.packed}
}

// index holds the rows of all segments.
type index struct {
	mu       sync.RWMutex
	segments []*segment
	groups   *groups
	failures atomic.Uint64
	skipped  atomic.Uint64
}

// view is the state of an index at one moment.
type view struct {
	segments []segmentView
	groups   []group
}

type segmentView struct {
	*segment
	number int
	base   uint64
	rows   []row
}

// id returns the id of a row.
func (v *segmentView) id(r *row) ID { return ID{Chain: v.chain, Seq: v.base + uint64(r.seq)} }

// place returns the position of a row in the list.
func (v *segmentView) place(r *row) place { return place{r.time, v.chain, v.base + uint64(r.seq)} }

// view returns the current state, newest segments first.
func (x *index) view() view {
	x.mu.RLock()
	v := view{segments: make([]segmentView, 0, len(x.segments)), groups: x.groups.list}
	for _, s := range x.segments {
		if len(s.rows) > 0 {
			v.segments = append(v.segments, segmentView{s, s.number, s.base, s.rows})
		}
	}
	x.mu.RUnlock()
	slices.SortFunc(v.segments, func(a, b segmentView) int {
		return b.place(&b.rows[len(b.rows)-1]).compare(a.place(&a.rows[len(a.rows)-1]))
	})
	return v
}

// add adds a segment that has no rows yet, or rows with the groups of own.
func (x *index) add(s *segment, own *groups) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.translate(s.rows, own)
	s.rows = slices.Clip(s.rows)
	x.segments = append(x.segments, s)
	x.failures.Add(uint64(len(s.rows)))
}

// extend appends rows with the groups of own to a segment that was added before.
func (x *index) extend(s *segment, rows []row, own *groups) {
	if len(rows) == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.translate(rows, own)
	s.rows = append(s.rows, rows...)
	x.failures.Add(uint64(len(rows)))
}

// translate replaces the groups of own by those of the index. The caller holds the lock.
func (x *index) translate(rows []row, own *groups) {
	if own == nil { // they are those of the index already
		return
	}
	ids := x.number(own.list)
	for i := range rows {
		rows[i].group = ids[rows[i].group]
	}
}

// number returns the numbers of groups in the index. The caller holds the lock.
func (x *index) number(list []group) []uint32 {
	ids := make([]uint32, len(list))
	for i := range list {
		ids[i] = x.groups.add(&list[i])
	}
	return ids
}

// remove removes segments.
func (x *index) remove(gone func(*segment) bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.segments = slices.DeleteFunc(x.segments, func(s *segment) bool {
		if !gone(s) {
			return false
		}
		x.failures.Add(-uint64(len(s.rows)))
		x.skipped.Add(-s.skipped)
		return true
	})
}

// rename sets the number of a segment whose file was closed.
func (x *index) rename(s *segment, number int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s.number = number
	s.rows = slices.Clip(s.rows)
}

// errReplaced means that a file does not begin with the lines that the segment has.
var errReplaced = errors.New("the file was replaced")

// read reads the lines of a file after those that the segment has, and returns the rows of the new failures, whose
// groups are those of own. each, if not nil, is called for each failure.
func (s *segment) read(l *lines, own *groups, each func(*ledger.Line)) ([]row, error) {
	if err := s.resume(l); err != nil {
		return nil, err
	}
	var rows []row
	name := nameOf(s.chain)
	for !s.closed && !s.broken {
		raw, off, err := l.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return rows, s.damaged(l, err)
		}
		line, err := ledger.ParseLine(raw)
		s.added += l.at - s.end
		s.end = l.at
		if err != nil || !line.In(name) {
			s.skipped++
			continue
		}
		if s.base == 0 {
			s.base = line.Seq
		}
		s.tail, s.lastSeq, s.hash = off, line.Seq, [8]byte(line.Hash[:8])
		s.closed = line.Kind == ledger.KindCheckpoint && bytes.Contains(raw, []byte(`"closed":true`))
		if line.Kind == ledger.KindFailure && line.Seq >= s.base {
			rows = append(rows, rowOf(&line, off, s, own))
			if each != nil {
				each(&line)
			}
		}
	}
	return rows, nil
}

func rowOf(l *ledger.Line, off int64, s *segment, own *groups) row {
	f := fieldsOf(l.Raw(), s.chain)
	return row{
		time: l.Time.UnixMicro(), off: off, session: sessionHash(f.session), ref: refHead(f.ref), group: own.id(&f),
		seq: uint32(l.Seq - s.base), //nolint:gosec // a segment has fewer lines
	}
}

// resume moves on to the first line that the segment does not have. It compares the last one that it has, whose hash
// covers those before it.
func (s *segment) resume(l *lines) error {
	if s.end == 0 || s.broken {
		return nil
	}
	if err := l.skipTo(s.tail); err != nil {
		return errReplaced
	}
	raw, _, err := l.next()
	if err != nil {
		return errReplaced
	}
	line, err := ledger.ParseLine(raw)
	if err != nil || !line.In(nameOf(s.chain)) || line.Seq != s.lastSeq || [8]byte(line.Hash[:8]) != s.hash {
		return errReplaced
	}
	if l.skipTo(s.end) != nil {
		return errReplaced
	}
	return nil
}

// damaged notes that the rest of a file cannot be read because of its content, as opposed to an error of reading, which
// it returns.
func (s *segment) damaged(l *lines, err error) error {
	var path *fs.PathError
	if !errors.As(err, &path) && (l.seeker == nil || errors.Is(err, errLong)) {
		s.broken = true
		s.skipped++
		return nil
	}
	return err
}
