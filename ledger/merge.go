package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/candor-mcp/candor/internal/segment"
	"github.com/candor-mcp/candor/internal/segment/format"
)

// merge reads several chains in parallel and keeps one line of each in memory. A chain is opened when its first entry
// is due and closed at its end, so that only chains that were written at the same time are open together.
type merge struct {
	reader  *Reader
	options ReadOptions
	waiting []*cursor // not opened yet, ordered by start
	open    []*cursor
	known   map[string]bool
	tails   bool // begin at the active segment of each chain
	clipped bool // tails skipped at least one segment
}

// cursor is a position in one chain.
type cursor struct {
	chain string
	start time.Time // no entry is older than start
	lines *segment.Stream
	line  Line
	ready bool
	ended bool // no more lines will be read
}

func newMerge(r *Reader, options ReadOptions) *merge {
	return &merge{reader: r, options: options, known: map[string]bool{}}
}

// find adds chains that are not known yet.
func (m *merge) find() error {
	chains := []string{m.options.Chain}
	if m.options.Chain == "" {
		var err error
		if chains, err = m.reader.Chains(); err != nil {
			return err
		}
	}
	for _, name := range chains {
		if m.known[name] {
			continue
		}
		m.known[name] = true
		c := &cursor{chain: name, start: chainStart(name), lines: segment.NewStream(m.reader.fsys, name)}
		if err := m.rewind(c); err != nil {
			return err
		}
		m.waiting = append(m.waiting, c)
	}
	slices.SortStableFunc(m.waiting, func(a, b *cursor) int { return a.start.Compare(b.start) })
	return nil
}

// rewind sets the segment to begin with.
func (m *merge) rewind(c *cursor) error {
	switch {
	case m.tails:
		list, err := segment.List(m.reader.fsys, c.chain)
		c.lines.Skip = segment.LastNumber(list)
		m.clipped = m.clipped || c.lines.Skip > 0
		return err
	case m.options.From > 1 && m.options.Chain != "":
		return c.lines.SkipTo(m.options.From, seqOf)
	}
	return nil
}

// seqOf returns the number of the entry in a line.
func seqOf(line []byte) (uint64, error) {
	l, err := ParseLine(line)
	return l.Seq, err
}

// chainStart parses the start time from a chain's name. It returns the zero time if the name has none.
func chainStart(name string) time.Time {
	if !format.LooksLikeChain(name) {
		return time.Time{}
	}
	text := name[len(name)-len("20261115T040506789Z-0123abcd"):]
	t, _ := time.Parse("20060102T150405.000Z", text[:15]+"."+text[15:19])
	return t
}

// next returns the cursor with the earliest line, or nil if there are currently no more lines.
func (m *merge) next() (*cursor, error) {
	for {
		first, err := m.earliest()
		if err != nil {
			return nil, err
		}
		if len(m.waiting) == 0 || first != nil && first.line.Time.Before(m.waiting[0].start) {
			return first, nil
		}
		m.open = append(m.open, m.waiting[0])
		m.waiting = m.waiting[1:]
	}
}

func (m *merge) earliest() (*cursor, error) {
	var first *cursor
	for _, c := range m.open {
		if !c.ready && !c.ended {
			if err := m.advance(c); err != nil {
				return nil, err
			}
		}
		if c.ready && (first == nil || before(&c.line, &first.line)) {
			first = c
		}
	}
	m.open = slices.DeleteFunc(m.open, func(c *cursor) bool { return c.ended && !c.ready })
	return first, nil
}

func before(a, b *Line) bool {
	if !a.Time.Equal(b.Time) {
		return a.Time.Before(b.Time)
	}
	return string(a.chain) < string(b.chain)
}

// advance reads the next valid line of a chain.
func (m *merge) advance(c *cursor) error {
	for {
		raw, err := c.lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			if !m.options.Follow {
				c.ended = true
				return c.lines.Close()
			}
			return nil
		case errors.Is(err, segment.ErrCorrupt), errors.Is(err, segment.ErrTorn):
			m.skipped(raw)
			if err := c.lines.Abandon(); err != nil {
				return err
			}
			continue
		case err != nil:
			return fmt.Errorf("reading chain %s: %w", c.chain, err)
		}
		line, err := ParseLine(raw.Bytes)
		if err != nil || !line.In(c.chain) {
			m.skipped(raw)
			continue
		}
		c.line, c.ready = line, true
		if line.Kind == KindCheckpoint && bytes.Contains(raw.Bytes, []byte(`"closed":true`)) {
			c.ended = true
			return c.lines.Close()
		}
		return nil
	}
}

func (m *merge) skipped(raw segment.Line) {
	if m.options.Skipped != nil {
		m.options.Skipped(raw.File, raw.Offset)
	}
}

func (m *merge) wanted(l *Line) bool {
	return l.Seq >= m.options.From && !l.Time.Before(m.options.Since) && (m.options.Keep == nil || m.options.Keep(l))
}

// drain yields all lines that exist now. It reports whether the caller wants to continue.
func (m *merge) drain(ctx context.Context, yield func(*Line, error) bool) bool {
	if err := m.find(); err != nil {
		yield(nil, err)
		return false
	}
	for ctx.Err() == nil {
		c, err := m.next()
		if err != nil {
			yield(nil, err)
			return false
		}
		if c == nil {
			return true
		}
		c.ready = false
		if m.wanted(&c.line) && !yield(&c.line, nil) {
			return false
		}
	}
	return false
}

// lastOf yields the last lines, which it collects until the end is reached. It begins with the active segments, and
// reads all segments only if those hold too few lines.
func lastOf(ctx context.Context, m *merge, yield func(*Line, error) bool) (*merge, bool) {
	m.tails = true
	kept, failed := m.gather(ctx, yield)
	if m.clipped && len(kept) < m.options.Last && !failed {
		m.close()
		m = newMerge(m.reader, m.options)
		kept, failed = m.gather(ctx, yield)
	}
	for i := range kept {
		if failed || !yield(&kept[i], nil) {
			return m, false
		}
	}
	return m, !failed
}

// gather returns the last lines. It keeps them in a ring, because there may be many.
func (m *merge) gather(ctx context.Context, yield func(*Line, error) bool) (kept []Line, failed bool) {
	oldest := 0
	ok := m.drain(ctx, func(l *Line, err error) bool {
		if err != nil {
			return yield(nil, err)
		}
		own := *l
		own.raw = slices.Clone(l.raw)
		own.chain = own.raw[len(format.LineStart) : len(format.LineStart)+len(l.chain)]
		if len(kept) < m.options.Last {
			kept = append(kept, own)
			return true
		}
		kept[oldest] = own
		oldest = (oldest + 1) % len(kept)
		return true
	})
	return slices.Concat(kept[oldest:], kept[:oldest]), !ok
}

// follow polls for more lines until the context ends.
func (m *merge) follow(ctx context.Context, yield func(*Line, error) bool) {
	poll := m.options.Poll
	if poll <= 0 {
		poll = 200 * time.Millisecond
	}
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-m.options.Wake:
		}
		if !m.drain(ctx, yield) {
			return
		}
	}
}

func (m *merge) close() {
	for _, c := range m.open {
		_ = c.lines.Close() // only read
	}
}
