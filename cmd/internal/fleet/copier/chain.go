package copier

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/ledger"
)

// Limits on the lines that are appended together.
const (
	batchLines = 500
	batchBytes = 1 << 20
)

// pass is one attempt to copy a chain: it reads the source, compares it with the head of the destination, and appends what follows.
type pass struct {
	*copier
	from, to fleet.Chain
	start    fleet.Head // of the destination when the pass began
	head     fleet.Head // of the destination now
	last     fleet.Head // the last entry of the source that was read
	batch    [][]byte
	bytes    int
}

// pass copies the entries of a chain that the destination does not have. It reports whether it copied any.
func (c *copier) pass(ctx context.Context, chain fleet.Chain) (progress bool, err error) {
	p := &pass{copier: c, from: chain, to: c.target(chain)}
	if p.start, err = c.to.Head(ctx, p.to); err != nil {
		return false, err
	}
	p.head = p.start
	if same, err := p.upToDate(ctx); err != nil || same {
		return false, err
	}
	if err = p.read(ctx); err == nil {
		err = p.flush(ctx)
	}
	if err == nil && p.last.Seq < p.start.Seq {
		err = errDiffer
	}
	if err == nil {
		err = p.compare(ctx)
	}
	return p.head != p.start, p.explain(ctx, err)
}

// read passes the lines of the source to the batch.
func (p *pass) read(ctx context.Context) error {
	after, err := p.after(ctx)
	if err != nil {
		return err
	}
	for stored, err := range p.source.Lines(ctx, p.from, after) {
		if err == nil {
			err = p.line(ctx, stored.Line)
		} else if coded, ok := errors.AsType[*candor.Error](err); ok && coded.Class() == candor.ClassCorrupt {
			err = problem(p.from, p.last.Seq+1, KindBadLine, "%v", err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// upToDate reports whether the source ends with the same entry as the destination. Damage at the end of the source is found when its lines
// are read.
func (p *pass) upToDate(ctx context.Context) (bool, error) {
	head, err := p.source.Head(ctx, p.from)
	if err != nil && fleet.IsTemporary(err) {
		return false, err
	}
	if err != nil || head.Seq == 0 || head != p.start && (head.Seq != p.start.Seq || p.start != p.compared(p.from)) {
		return false, nil
	}
	p.report(func(q *Progress) { q.Entries += head.Seq })
	return true, nil
}

// after returns a position at or before which all entries of the source are older than the head of the destination. Positions increase by
// at least one from line to line, so entry n of a chain that begins with entry f has position n-f+1 or a later one.
func (p *pass) after(ctx context.Context) (uint64, error) {
	if p.start == (fleet.Head{}) {
		return 0, nil
	}
	for stored, err := range p.source.Lines(ctx, p.from, 0) {
		if err != nil {
			return 0, err
		}
		if first, err := ledger.ParseLine(stored.Line); err == nil && first.Seq <= p.start.Seq {
			return p.start.Seq - first.Seq, nil
		}
		break
	}
	return 0, nil
}

// line checks the next line of the source, and adds it to the batch if the destination does not have it.
func (p *pass) line(ctx context.Context, line []byte) error {
	entry, err := ledger.ParseLine(line)
	switch {
	case err != nil:
		return problem(p.from, p.last.Seq+1, KindBadLine, "the line %s", err)
	case !entry.In(p.from.Name):
		return problem(p.from, p.last.Seq+1, KindBadLine, "the line belongs to chain %s", entry.Chain())
	case p.last != fleet.Head{} && (entry.Seq != p.last.Seq+1 || entry.Prev != p.last.Hash):
		return problem(p.from, p.last.Seq+1, KindBadLine, "entry %d follows, which does not continue entry %d", entry.Seq, p.last.Seq)
	}
	p.last = fleet.Head{Seq: entry.Seq, Hash: entry.Hash}
	switch {
	case entry.Seq < p.start.Seq:
		return nil
	case entry.Seq == p.start.Seq && entry.Hash == p.start.Hash:
		p.report(func(q *Progress) { q.Entries += entry.Seq })
		return nil
	case entry.Seq == p.start.Seq, entry.Seq == p.start.Seq+1 && p.start.Seq > 0 && entry.Prev != p.start.Hash:
		return errDiffer
	case len(p.batch) == 0 && p.head.Seq > 0 && entry.Seq > p.head.Seq+1:
		return problem(p.from, p.head.Seq+1, KindGap, "the source begins with entry %d, and the destination ends with entry %d", entry.Seq, p.head.Seq)
	}
	return p.add(ctx, line)
}

// errDiffer means that the source and the destination have different entries with the same number.
var errDiffer = errors.New("the chains differ")

func (p *pass) add(ctx context.Context, line []byte) error {
	p.batch = append(p.batch, bytes.Clone(line))
	p.bytes += len(line)
	if len(p.batch) < batchLines && p.bytes < batchBytes {
		return nil
	}
	return p.flush(ctx)
}

func (p *pass) flush(ctx context.Context) error {
	if len(p.batch) == 0 {
		return nil
	}
	if err := p.copier.to.Append(ctx, p.to, p.head, p.batch); err != nil {
		return err
	}
	count, size := uint64(len(p.batch)), int64(p.bytes)
	p.head, p.batch, p.bytes = p.last, p.batch[:0], 0
	p.report(func(q *Progress) {
		q.Entries += count
		q.Copied += count
		q.Bytes += size
	})
	return nil
}

// compare reads the head of the destination again and compares it with the last entry that was read.
func (p *pass) compare(ctx context.Context) error {
	head, err := p.copier.to.Head(ctx, p.to)
	if err != nil || head.Seq > p.last.Seq { // another process may have appended since
		return err
	}
	if head == p.last {
		p.report(func(*Progress) { p.same[p.from] = head })
		return nil
	}
	return problem(p.from, p.last.Seq, KindFork, "the destination ends with entry %d after the copy", head.Seq)
}

// explain finds the first entry in which the chains differ.
func (p *pass) explain(ctx context.Context, err error) error {
	if !errors.Is(err, errDiffer) {
		return err
	}
	seq, common, err := firstDifference(ctx, p.source.Lines(ctx, p.from, 0), p.copier.to.Lines(ctx, p.to, 0))
	switch {
	case err != nil:
		return fmt.Errorf("comparing chain %s: %w", p.from, err)
	case seq == 0:
		return problem(p.from, common+1, KindBehind, "the source ends with entry %d, and the destination has entry %d", common, p.start.Seq)
	}
	return problem(p.from, seq, KindFork, "the destination has another entry with this number")
}

// firstDifference returns the number of the first entry that two chains both have and that differs, or 0, and that of the last entry that
// is the same.
func firstDifference(ctx context.Context, a, b iter.Seq2[fleet.Stored, error]) (seq, common uint64, err error) {
	nextA, stopA := iter.Pull2(a)
	defer stopA()
	nextB, stopB := iter.Pull2(b)
	defer stopB()
	x, moreX, errX := entryOf(nextA)
	y, moreY, errY := entryOf(nextB)
	for moreX && moreY {
		if err := errors.Join(errX, errY, ctx.Err()); err != nil {
			return 0, common, err
		}
		switch {
		case x.Seq < y.Seq:
			x, moreX, errX = entryOf(nextA)
		case y.Seq < x.Seq:
			y, moreY, errY = entryOf(nextB)
		case x.Hash != y.Hash:
			return x.Seq, common, nil
		default:
			common = x.Seq
			x, moreX, errX = entryOf(nextA)
			y, moreY, errY = entryOf(nextB)
		}
	}
	return 0, common, errors.Join(errX, errY)
}

// entryOf returns the number and hash of the next line that is an entry.
func entryOf(next func() (fleet.Stored, error, bool)) (fleet.Head, bool, error) {
	for {
		stored, err, more := next()
		if !more || err != nil {
			return fleet.Head{}, more, err
		}
		if entry, err := ledger.ParseLine(stored.Line); err == nil {
			return fleet.Head{Seq: entry.Seq, Hash: entry.Hash}, true, nil
		}
	}
}
