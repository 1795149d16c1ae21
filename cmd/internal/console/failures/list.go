package failures

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/ledger"
)

// candidate is a row that may be on a page.
type candidate struct {
	place
	view *segmentView
	row  uint32
}

// List returns a page of the failures that a filter selects, newest first. An empty cursor is the first page.
func (s *Store) List(ctx context.Context, f Filter, from string, limit int) (Page, error) { //nolint:gocritic // a value
	at, err := parseCursor(from)
	if err != nil {
		return Page{}, err
	}
	c := &collector{cursor: at, limit: min(max(limit, 1), maxPage)}
	if err := s.newQuery(&f).each(ctx, c.collect); err != nil {
		return Page{}, err
	}
	rows := c.page()
	page := Page{Total: c.total}
	if page.Failures, err = s.loadRows(ctx, rows); err != nil {
		return Page{}, err
	}
	if len(rows) > 0 && c.above {
		page.Previous = cursor{place: rows[0].place, newer: true}.String()
	}
	if len(rows) > 0 && c.below {
		page.Next = cursor{place: rows[len(rows)-1].place}.String()
	}
	return page, nil
}

// collector chooses the rows of a page: the limit rows next to the cursor, on one of its sides.
type collector struct {
	cursor       cursor
	limit        int
	total        uint64
	best         []candidate
	worst        *candidate // of the limit+1 best, when they were last trimmed
	above, below bool       // there are newer and older failures than the page
}

// collect takes the rows of a segment into account.
func (c *collector) collect(v *segmentView, matched []uint32) {
	c.total += uint64(len(matched))
	low, high := 0, len(matched) // the rows on the wanted side
	if !c.cursor.any {
		at := sort.Search(len(matched), func(i int) bool { return v.place(&v.rows[matched[i]]).compare(c.cursor.place) >= 0 })
		if c.cursor.newer {
			if low = at; at < len(matched) && v.place(&v.rows[matched[at]]) == c.cursor.place {
				low++
			}
			c.below = c.below || low > 0
		} else {
			high = at
			c.above = c.above || high < len(matched)
		}
	}
	for i := range min(high-low, c.limit+1) {
		at := matched[high-1-i]
		if c.cursor.newer {
			at = matched[low+i]
		}
		x := candidate{v.place(&v.rows[at]), v, at}
		if c.worst != nil && c.order(&x, c.worst) > 0 {
			break
		}
		c.best = append(c.best, x)
	}
	if len(c.best) > 2*(c.limit+1) || c.worst == nil {
		c.trim()
	}
}

// order orders candidates by their distance from the cursor.
func (c *collector) order(a, b *candidate) int {
	if c.cursor.newer {
		return a.compare(b.place)
	}
	return b.compare(a.place)
}

// trim keeps the limit+1 best candidates.
func (c *collector) trim() {
	slices.SortFunc(c.best, func(a, b candidate) int { return c.order(&a, &b) }) //nolint:gocritic // its type
	if len(c.best) > c.limit {
		c.best = c.best[:c.limit+1]
		worst := c.best[c.limit]
		c.worst = &worst
	}
}

// page returns the rows of the page, newest first.
func (c *collector) page() []candidate {
	c.trim()
	if len(c.best) > c.limit {
		c.best = c.best[:c.limit]
		if c.cursor.newer {
			c.above = true
		} else {
			c.below = true
		}
	}
	if c.cursor.newer {
		slices.Reverse(c.best)
	}
	return c.best
}

// loadRows reads the lines of the rows of a page, in the given order.
func (s *Store) loadRows(ctx context.Context, rows []candidate) ([]Failure, error) {
	list := make([]Failure, len(rows))
	bySegment := map[*segmentView][]uint32{}
	position := map[*segmentView]map[uint32]int{}
	for i := range rows {
		c := &rows[i]
		if position[c.view] == nil {
			position[c.view] = map[uint32]int{}
		}
		bySegment[c.view] = append(bySegment[c.view], c.row)
		position[c.view][c.row] = i
		list[i] = c.view.bare(s, c.row)
	}
	for v, at := range bySegment {
		slices.Sort(at)
		err := s.readLines(ctx, v, at, func(i uint32, raw []byte) {
			if line, err := ledger.ParseLine(raw); err == nil {
				list[position[v][i]] = ofLine(&line, v.chain)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// bare returns what the index knows of a failure, for the case that its line cannot be read any more.
func (v *segmentView) bare(s *Store, at uint32) Failure {
	r := &v.rows[at]
	s.index.mu.RLock()
	g := s.index.groups.list[r.group]
	s.index.mu.RUnlock()
	return Failure{
		ID: v.id(r), Time: micros(r.time), Server: g.server, Tool: g.tool, Code: g.code, Class: g.class, Verdict: g.verdict, Origin: g.origin,
		Outcome: ledger.Outcome(g.outcome), Suspected: g.outcome == string(ledger.OutcomeSuspected),
	}
}

// readLines calls visit with the lines of rows, given in order. Lines that are not there any more are left out.
func (s *Store) readLines(ctx context.Context, v *segmentView, at []uint32, visit func(i uint32, raw []byte)) error {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return ignoreMissing(err)
	}
	defer root.Close() //nolint:errcheck // only read
	const few, small, large = 100, 16 << 10, 256 << 10
	buffer := large
	if len(at) < few {
		buffer = small
	}
	const attempts = 5 // a segment that is being compressed may be missing in a list, or be renamed after it was listed
	for range attempts {
		files, err := s.filesOf(root.FS(), v)
		if err != nil {
			return ignoreMissing(err)
		}
		for i := range files {
			l, err := openLines(root.FS(), &files[i], buffer, nil)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			found, err := visitLines(ctx, l, v, at, visit)
			l.close()
			if found || err != nil {
				return err
			}
		}
	}
	return nil
}

// visitLines calls visit with lines of a file. It reports whether the file has the first of them.
func visitLines(ctx context.Context, l *lines, v *segmentView, at []uint32, visit func(i uint32, raw []byte)) (found bool, err error) {
	head := []byte(`{"v":1,"chain":"` + nameOf(v.chain) + `","seq":`)
	begin := len(head)
	for n, i := range at {
		if n%1024 == 0 && ctx.Err() != nil {
			return found, ctx.Err()
		}
		r := &v.rows[i]
		if err := l.skipTo(r.off); err != nil {
			return found, nil //nolint:nilerr // the file was cut off
		}
		raw, _, err := l.next()
		if err != nil {
			return found, nil //nolint:nilerr // as above
		}
		head = strconv.AppendUint(head[:begin], v.base+uint64(r.seq), 10)
		if bytes.HasPrefix(raw, append(head, ',')) {
			visit(i, raw)
			found = true
		} else if n == 0 {
			return false, nil
		}
	}
	return found, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// filesOf returns the file of a segment, or none if it was removed. If the segment is the active one, it also returns
// the last closed ones, because it may have been closed since the last look.
func (s *Store) filesOf(fsys fs.FS, v *segmentView) ([]file, error) {
	l, err := listChain(fsys, v.chain)
	if err != nil {
		return nil, err
	}
	s.index.mu.RLock()
	number := v.segment.number // it may have been closed since the view was made
	s.index.mu.RUnlock()
	if number > 0 {
		return slices.DeleteFunc(l.closed, func(f file) bool { return f.number != number }), nil
	}
	const last = 3
	files := l.closed[max(0, len(l.closed)-last):]
	if l.active != nil {
		files = append(files, *l.active)
	}
	slices.Reverse(files)
	return files, nil
}

// Get returns a failure as it was recorded, and the bytes of its line. The error is [ErrNotFound] if there is none.
func (s *Store) Get(ctx context.Context, id ID) (*ledger.Record, []byte, error) {
	found := s.index.view()
	var raw []byte
	for i := range found.segments {
		v := &found.segments[i]
		if v.chain != id.Chain || id.Seq < v.base {
			continue
		}
		at := sort.Search(len(v.rows), func(i int) bool { return v.base+uint64(v.rows[i].seq) >= id.Seq })
		if at == len(v.rows) || v.id(&v.rows[at]) != id {
			continue
		}
		if err := s.readLines(ctx, v, []uint32{uint32(at)}, func(_ uint32, b []byte) { raw = bytes.Clone(b) }); err != nil { //nolint:gosec // a position
			return nil, nil, err
		}
	}
	if raw == nil {
		return s.scanFor(ctx, id)
	}
	line, err := ledger.ParseLine(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("entry %s: %w; run candor ledger verify", id, err)
	}
	record, err := line.Record()
	return &record, raw, err
}

// scanFor reads a chain that is not in the index yet.
func (s *Store) scanFor(ctx context.Context, id ID) (*ledger.Record, []byte, error) {
	if !isChain(id.Name()) || (id.Node() != "") != s.options.Nodes || s.options.Nodes && !fleet.ValidNode(id.Node()) {
		return nil, nil, ErrNotFound
	}
	r, err := ledger.OpenReader(filepath.Join(s.dir, id.Node()))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, ErrNotFound
	}
	if err != nil {
		return nil, nil, err
	}
	defer r.Close() //nolint:errcheck // it was only read
	select {
	case <-s.ready:
		return nil, nil, ErrNotFound
	default:
	}
	keep := func(l *ledger.Line) bool { return l.Seq == id.Seq && l.Kind == ledger.KindFailure }
	for l, err := range r.Entries(ctx, ledger.ReadOptions{Chain: id.Name(), Keep: keep}) {
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		record, err := l.Record()
		return &record, bytes.Clone(l.Raw()), err
	}
	return nil, nil, ErrNotFound
}
