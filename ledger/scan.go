package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/candor-mcp/candor/internal/checkpoint"
	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/internal/storage"
	"github.com/candor-mcp/candor/ledger/internal/tree"
)

// lineScanner reads a segment line by line. It holds at most one line in memory.
type lineScanner struct {
	file io.Closer
	in   *bufio.Reader
	line []byte // without its line feed
	off  int64  // offset of line
	next int64  // offset of the next line
}

func newLineScanner(s storage.Storage, name string) (*lineScanner, error) {
	file, err := segment.OpenFile(s.Files(), name, strings.HasSuffix(name, format.GzipSuffix))
	if err != nil {
		return nil, err
	}
	return &lineScanner{file: file, in: bufio.NewReaderSize(file, 256<<10)}, nil
}

func (l *lineScanner) close() { _ = l.file.Close() } // only read

// scan reads the next line. At the end it returns io.EOF. For a line that lacks its line feed or is too long it
// returns ErrShape and continues after that line.
func (l *lineScanner) scan() error {
	l.line, l.off = l.line[:0], l.next
	for long := false; ; {
		part, err := l.in.ReadSlice('\n')
		l.next += int64(len(part))
		if long = long || len(l.line)+len(part) > format.MaxLine; !long {
			l.line = append(l.line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && l.next == l.off:
			return io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case err != nil || long:
			return format.ErrShape
		}
		l.line = l.line[:len(l.line)-1]
		return nil
	}
}

// walk is a chain being read: its position, and the reservations that are open there.
type walk struct {
	chain  string
	at     position
	leaves tree.RecordHasher
	open   map[uint64]reservation
	closed bool // the last line closed the chain
}

func newWalk(chain string) *walk {
	return &walk{chain: chain, at: position{last: format.Genesis(chain)}, leaves: tree.NewRecordHasher(), open: map[uint64]reservation{}}
}

// badLine is the first malformed or misplaced line.
type badLine struct {
	off  int64
	seq  uint64
	kind string
	err  error
	// proved is true if a whole checkpoint follows the line. Then the line was durable once, and a crash cannot have
	// damaged it.
	proved bool
}

// The kinds of damage that recovery distinguishes; spec/ledger.md has the full list.
const (
	damageBadLine      = "bad-line"
	damageBadHash      = "bad-hash"
	damageBrokenLink   = "broken-link"
	damageWrongSeq     = "wrong-seq"
	damageWrongChain   = "wrong-chain"
	damageTimeBack     = "time-backwards"
	damageTruncated    = "truncated"
	damageRootMismatch = "root-mismatch"
)

// segment reads one segment up to its first bad line. A segment that is not the first of its chain states its
// starting point, because earlier segments may have been pruned.
func (w *walk) segment(s storage.Storage, name string) (*badLine, error) {
	lines, err := newLineScanner(s, name)
	if err == nil {
		defer lines.close()
		err = lines.scan()
	}
	for ; !errors.Is(err, io.EOF); err = lines.scan() {
		if errors.Is(err, segment.ErrCorrupt) {
			return &badLine{seq: w.at.seq() + 1, kind: damageBadLine, err: err, proved: true}, nil
		}
		if err != nil && !errors.Is(err, format.ErrShape) {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		kind := damageBadLine
		if err == nil {
			kind, err = w.take(lines.line, lines.off == 0)
		}
		if err != nil {
			bad := &badLine{off: lines.off, seq: w.at.seq() + 1, kind: kind, err: err}
			bad.proved, err = w.provedLater(lines)
			return bad, err
		}
	}
	return nil, nil
}

// take checks that a line is the next one and advances past it. start is true for the first line of a segment.
func (w *walk) take(line []byte, start bool) (damage string, err error) {
	l, err := ParseLine(line)
	if errors.Is(err, format.ErrHash) {
		return damageBadHash, err
	}
	if err != nil {
		return damageBadLine, err
	}
	if !l.In(w.chain) {
		return damageWrongChain, errors.New("belongs to another chain")
	}
	if start && l.Seq > 1 {
		if err := w.start(&l); err != nil {
			return damageRootMismatch, err
		}
	}
	switch text := format.FormatTime(l.Time); {
	case l.Seq != w.at.seq()+1:
		return damageWrongSeq, fmt.Errorf("has number %d", l.Seq)
	case l.Prev != w.at.last:
		return damageBrokenLink, errors.New("does not follow the entry before it")
	case text < w.at.time:
		return damageTimeBack, errors.New("is older than the entry before it")
	default:
		w.at.time = text
	}
	w.at.advance(line, l.Hash, w.leaves)
	return damageBadLine, w.follow(&l)
}

// start reads the starting point from the first line of a segment: the edge of the tree must produce the root in the
// note.
func (w *walk) start(l *Line) error {
	var data pendingNote
	if err := format.DecodeData(l.Raw(), &data); err != nil {
		return err
	}
	note, err := checkpoint.ReadUnsigned(data.Note)
	if err != nil || l.Kind != KindCheckpoint || note.Size+1 != int64(l.Seq) || note.Last != l.Prev { //nolint:gosec // a seq has at most 18 digits
		return errors.New("does not state where its segment begins")
	}
	edge, err := tree.FromEdges(l.Seq-1, data.Tree)
	if err != nil {
		return err
	}
	if edge.Root() != note.Root {
		return errors.New("has a tree edge that does not match the signed root")
	}
	w.at.tree, w.at.last, w.at.time = edge, l.Prev, ""
	clear(w.open)
	for _, r := range data.Open {
		w.open[r.Seq] = r
	}
	return nil
}

// follow updates the open reservations and notes whether the line closes the chain.
func (w *walk) follow(l *Line) error {
	w.closed = false
	switch l.Kind {
	case KindReserve:
		r, err := l.Record()
		if err != nil {
			return err
		}
		w.open[l.Seq] = reservation{Seq: l.Seq, Ref: r.Ref, Call: r.Call, Tool: r.Tool}
	case KindComplete:
		var data struct{ Reserve reservation }
		if err := format.DecodeData(l.Raw(), &data); err == nil && data.Reserve.Chain == w.chain {
			delete(w.open, data.Reserve.Seq)
		}
	case KindCheckpoint:
		var data pendingNote
		if err := format.DecodeData(l.Raw(), &data); err != nil {
			return err
		}
		w.closed = data.Closed
	default:
	}
	return nil
}

// provedLater looks for a whole checkpoint of this chain after a bad line. A checkpoint is written only when all
// entries before it are durable.
func (w *walk) provedLater(lines *lineScanner) (bool, error) {
	for {
		err := lines.scan()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if errors.Is(err, format.ErrShape) {
			continue
		}
		if err != nil {
			return false, err
		}
		l, err := ParseLine(lines.line)
		if err == nil && l.Kind == KindCheckpoint && l.In(w.chain) && l.Seq > w.at.seq()+1 {
			return true, nil
		}
	}
}
