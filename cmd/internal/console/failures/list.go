package failures

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/candor-mcp/candor/cmd/internal/fleet"
	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
)

// selection is a filter as a condition of SQL.
type selection struct {
	terms []string
	args  []any
	text  bool // the messages are compared too
}

func (s *selection) add(term string, args ...any) {
	s.terms, s.args = append(s.terms, term), append(s.args, args...)
}

// and returns the condition together with another one.
func (s selection) and(term string, args ...any) selection {
	return selection{append(slices.Clip(s.terms), term), append(slices.Clip(s.args), args...), s.text}
}

func (s selection) where() string {
	return " WHERE " + strings.Join(append([]string{"1"}, s.terms...), " AND ")
}

// from names the table for a query that reads all failures which the filter selects.
func (s selection) from() string {
	if s.text {
		return " FROM failures NOT INDEXED"
	}
	return " FROM failures INDEXED BY place"
}

func (f *Filter) selection() selection {
	var s, own selection
	for _, x := range []struct{ column, wanted string }{
		{"server", f.Server}, {"tool", f.Tool}, {"code", f.Code}, {"class", f.Class}, {"verdict", f.Verdict}, {"origin", f.Origin}, {"outcome", f.Outcome},
	} {
		if x.wanted != "" {
			own.add("named(?, "+x.column+")", x.wanted)
		}
	}
	if len(own.terms) > 0 {
		s.add("names IN (SELECT id FROM names"+own.where()+")", own.args...)
	}
	if f.Node != "" {
		s.add("chain IN (SELECT id FROM chains WHERE named(?, node))", f.Node)
	}
	if f.Session != "" {
		s.add("session = ?", f.Session)
	}
	if f.Ref != "" {
		s.add("ref >= ? AND ref < ?", f.Ref, f.Ref+"\xff") // no text in UTF-8 has this byte
	} else {
		s.add("ref NOT IN (SELECT ref FROM repeated)")
	}
	if !f.Since.IsZero() {
		s.add("time >= ?", ceilMicro(f.Since))
	}
	if !f.Until.IsZero() {
		s.add("time < ?", ceilMicro(f.Until))
	}
	if f.Text != "" {
		s.text = true
		lower := strings.ToLower(f.Text)
		pattern := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(lower) + "%"
		s.add(`(names IN (SELECT id FROM names WHERE has(?, code) OR has(?, tool) OR has(?, server))
			OR folded IS NULL AND message LIKE ? ESCAPE '\' OR instr(folded, ?) > 0)`, lower, lower, lower, pattern, []byte(lower))
	}
	return s
}

// ceilMicro returns the first microsecond that is not before t.
func ceilMicro(t time.Time) int64 { return t.Add(time.Microsecond - 1).UnixMicro() }

// List returns a page of the failures that a filter selects, newest first. An empty cursor is the first page.
func (s *Store) List(ctx context.Context, f Filter, from string, limit int) (page Page, err error) { //nolint:gocritic // a value
	at, err := parseCursor(from)
	if err != nil {
		return Page{}, err
	}
	err = s.db.read(ctx, func(c *sqlite3.Conn) error {
		page, err = listPage(c, f.selection(), at, min(max(limit, 1), maxPage))
		return err
	})
	return page, err
}

func listPage(c *sqlite3.Conn, all selection, at cursor, limit int) (page Page, err error) {
	page.Failures = []Failure{}
	err = query(c, "SELECT count(*)"+all.from()+all.where(), all.args, func(st *sqlite3.Stmt) { page.Total = uint64(st.ColumnInt64(0)) }) //nolint:gosec // a count
	if err != nil {
		return page, err
	}
	rows, places, err := listSide(c, all, at, limit+1)
	if err != nil || len(rows) == 0 {
		return page, err
	}
	more := len(rows) > limit
	rows, places = rows[:min(limit, len(rows))], places[:min(limit, len(rows))]
	if at.newer {
		slices.Reverse(rows)
		slices.Reverse(places)
	}
	behind := false // the other side of the cursor has failures too
	if !at.any {
		_, back, err := listSide(c, all, cursor{place: places[0], newer: true}, 1)
		if at.newer {
			_, back, err = listSide(c, all, cursor{place: places[len(places)-1]}, 1)
		}
		if err != nil {
			return page, err
		}
		behind = len(back) > 0
	}
	page.Failures = rows
	if at.newer && more || !at.newer && behind {
		page.Previous = cursor{place: places[0], newer: true}.String()
	}
	if at.newer && behind || !at.newer && more {
		page.Next = cursor{place: places[len(places)-1]}.String()
	}
	return page, nil
}

// listSide returns the failures next to a cursor, the nearest first.
func listSide(c *sqlite3.Conn, all selection, at cursor, limit int) (rows []Failure, places []place, err error) {
	compare, order := "<", "DESC"
	if at.newer {
		compare, order = ">", "ASC"
	}
	if !at.any {
		all = all.and("(time, chain, seq) "+compare+" (?, ?, ?)", at.time, at.chain, at.seq)
	}
	const columns = `SELECT time, chain, seq, path, ref, server, tool, code, class, verdict, origin, outcome, session, message, retry, attempt, latency
		FROM failures INDEXED BY place CROSS JOIN names ON names.id = failures.names CROSS JOIN chains ON chains.id = failures.chain`
	text := columns + strings.ReplaceAll(all.where(), "names IN", "failures.names IN") + " ORDER BY time " + order + ", chain " + order + ", seq " + order + " LIMIT ?"
	err = query(c, text, append(slices.Clip(all.args), int64(limit)), func(st *sqlite3.Stmt) {
		places = append(places, place{st.ColumnInt64(0), st.ColumnInt64(1), st.ColumnInt64(2)})
		rows = append(rows, failureOf(st))
	})
	return rows, places, err
}

func failureOf(st *sqlite3.Stmt) Failure {
	outcome := ledger.Outcome(st.ColumnText(11))
	return Failure{
		Time: micros(st.ColumnInt64(0)), ID: ID{Chain: st.ColumnText(3), Seq: uint64(st.ColumnInt64(2))}, Ref: st.ColumnText(4), //nolint:gosec // of an entry
		Server: st.ColumnText(5), Tool: st.ColumnText(6), Code: st.ColumnText(7), Class: st.ColumnText(8), Verdict: st.ColumnText(9),
		Origin: st.ColumnText(10), Outcome: outcome, Suspected: outcome == ledger.OutcomeSuspected, Session: st.ColumnText(12),
		Message: st.ColumnText(13), Retry: st.ColumnText(14), Attempt: st.ColumnInt(15), Latency: time.Duration(st.ColumnInt64(16)) * time.Microsecond,
	}
}

// Get reads a failure as it was recorded from the ledger, and the bytes of its line. The error is [ErrNotFound] if
// there is none.
func (s *Store) Get(ctx context.Context, id ID) (*ledger.Record, []byte, error) {
	if !format.LooksLikeChain(id.Name()) || (id.Node() != "") != s.options.Nodes || s.options.Nodes && !fleet.ValidNode(id.Node()) {
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
	for l, err := range r.Entries(ctx, ledger.ReadOptions{Chain: id.Name(), From: id.Seq}) {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil, ErrNotFound
		case err != nil:
			return nil, nil, err
		case l.Seq > id.Seq:
			return nil, nil, ErrNotFound
		case l.Seq == id.Seq && l.Kind == ledger.KindFailure:
			record, err := l.Record()
			return &record, bytes.Clone(l.Raw()), err
		}
	}
	return nil, nil, ErrNotFound
}
