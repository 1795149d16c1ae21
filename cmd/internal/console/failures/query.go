package failures

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"
)

// What a filter knows about the failures of a group.
const (
	rejected = iota
	accepted
	unread // the line must be read: the names are not in memory
	search // the line must be read, unless the text was searched for before
)

// query is a filter that is applied to a view.
type query struct {
	store  *Store
	filter *Filter
	view   view

	groups       []byte // by group
	since, until int64  // microseconds; until is exclusive
	session      uint64
	ref, mask    uint64
	longRef      bool // the ref has more bytes than the index
	text         string
	needle       needle
	found        *searched // results of earlier searches; nil without text
	rowsToo      bool      // groups are not sufficient
}

func (s *Store) newQuery(f *Filter) *query {
	q := &query{store: s, filter: f, view: s.index.view(), text: strings.ToLower(f.Text), session: sessionHash(f.Session)}
	q.since, q.until = math.MinInt64, math.MaxInt64
	if !f.Since.IsZero() {
		q.since = ceilMicro(f.Since)
	}
	if !f.Until.IsZero() {
		q.until = ceilMicro(f.Until)
	}
	if n := min(len(f.Ref), 8); n > 0 {
		q.mask = ^uint64(0) << (64 - 8*n)
		q.ref = refHead(f.Ref) & q.mask
		q.longRef = len(f.Ref) > 8
	}
	q.needle = needleOf(q.text)
	q.rowsToo = !f.Since.IsZero() || !f.Until.IsZero() || q.session != 0 || q.mask != 0
	q.groups = make([]byte, len(q.view.groups))
	for i := range q.groups {
		q.groups[i] = q.judge(&q.view.groups[i])
	}
	return q
}

// ceilMicro returns the first microsecond that is not before t.
func ceilMicro(t time.Time) int64 { return t.Add(time.Microsecond - 1).UnixMicro() }

// judge compares the filter with a group.
func (q *query) judge(g *group) byte {
	f := q.filter
	for i, wanted := range []string{f.Server, f.Tool, f.Code, f.Class, f.Verdict, f.Origin, f.Outcome} {
		switch {
		case wanted == "":
		case g.all || g.more && i == 1:
			return unread
		case !is(wanted, *g.names()[i]):
			return rejected
		}
	}
	switch {
	case q.longRef:
		return unread
	case q.text == "":
		return accepted
	case !g.more && hasText(&Failure{Code: g.code, Tool: g.tool, Server: g.server}, q.text):
		return accepted
	}
	return search
}

// matches returns the positions of the rows of a segment that the filter selects, in order. It appends to buf.
func (q *query) matches(ctx context.Context, v *segmentView, buf []uint32) ([]uint32, error) {
	if !is(q.filter.Node, nodeOf(v.chain)) {
		return buf, nil
	}
	var open []uint32
	var known *bits
	if q.found != nil {
		known = q.found.of(v.segment)
	}
	for i := range v.rows {
		r := &v.rows[i]
		state := q.groups[r.group]
		if state == rejected || q.rowsToo && !q.selects(r) {
			continue
		}
		if state == search {
			state = known.state(i)
		}
		switch state {
		case accepted:
			buf = append(buf, uint32(i)) //nolint:gosec // a segment has fewer lines
		case unread, search:
			open = append(open, uint32(i)) //nolint:gosec // a segment has fewer lines
		}
	}
	if len(open) == 0 {
		return buf, nil
	}
	buf, err := q.readOpen(ctx, v, open, buf)
	slices.Sort(buf)
	return buf, err
}

// selects compares what a row has itself.
func (q *query) selects(r *row) bool {
	return r.time >= q.since && r.time < q.until && (q.session == 0 || r.session == q.session) && r.ref&q.mask == q.ref
}

// readOpen reads the lines of rows that the index cannot decide about.
func (q *query) readOpen(ctx context.Context, v *segmentView, open, buf []uint32) ([]uint32, error) {
	err := q.store.readLines(ctx, v, open, func(i uint32, raw []byte) {
		if q.readOne(v, i, raw) {
			buf = append(buf, i)
		}
	})
	return buf, err
}

// readOne reports whether the filter selects a row with the given line.
func (q *query) readOne(v *segmentView, i uint32, raw []byte) bool {
	r := &v.rows[i]
	if q.groups[r.group] == unread {
		f := fieldsOf(raw, v.chain)
		x := f.failure(v.id(r), micros(r.time))
		return q.filter.Selects(&x)
	}
	found := false
	if q.needle.mayBeIn(raw) {
		f := fieldsOf(raw, v.chain)
		found = strings.Contains(strings.ToLower(f.message()), q.text) || q.view.groups[r.group].more && // the names are not in memory
			hasText(&Failure{Code: string(f.code), Tool: string(f.tool), Server: string(f.server)}, q.text)
	}
	q.found.of(v.segment).set(int(i), found)
	return found
}

// each calls visit for each segment with the positions of the rows that the filter selects, newest segments first.
func (q *query) each(ctx context.Context, visit func(v *segmentView, matched []uint32)) error {
	if q.text != "" {
		release, err := q.search(ctx)
		if err != nil {
			return err
		}
		defer release()
	}
	var buf []uint32
	for i := range q.view.segments {
		if err := ctx.Err(); err != nil {
			return err
		}
		v := &q.view.segments[i]
		var err error
		if buf, err = q.matches(ctx, v, buf[:0]); err != nil {
			return err
		}
		if len(buf) > 0 {
			visit(v, buf)
		}
	}
	return nil
}
