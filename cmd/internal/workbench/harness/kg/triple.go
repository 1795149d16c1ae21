package kg

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
	kgcode "github.com/candor-mcp/candor/codes/kg"
)

// Triple is one fact.
type Triple struct {
	Subject   string `json:"subject"`
	Predicate string `json:"predicate"`
	Object    string `json:"object"`
}

// rawTriple is a triple as sent by a client. Any part may be missing or have the wrong type.
type rawTriple struct {
	Subject   json.RawMessage `json:"subject"`
	Predicate json.RawMessage `json:"predicate"`
	Object    json.RawMessage `json:"object"`
}

// triple returns the triple, or an error that names every invalid part.
func (r rawTriple) triple() (t Triple, err error) {
	var invalid, long []string
	for _, part := range []struct {
		name string
		raw  json.RawMessage
		to   *string
	}{{"subject", r.Subject, &t.Subject}, {"predicate", r.Predicate, &t.Predicate}, {"object", r.Object, &t.Object}} {
		if problem := readPart(part.raw, part.to); problem != "" {
			invalid = append(invalid, part.name+": "+problem)
		} else if len(*part.to) > maxPart {
			long = append(long, fmt.Sprintf("%s: longer than %d bytes", part.name, maxPart))
		}
	}
	switch {
	case len(invalid) > 0:
		return Triple{}, domain.Fail(kgcode.InvalidTriple, strings.Join(invalid, "; "), nil)
	case len(long) > 0:
		return Triple{}, domain.Fail(common.InputTooLarge, strings.Join(long, "; "), nil)
	}
	return t, nil
}

// readPart reads a part of a triple and returns what is wrong with it, "" for a valid part.
func readPart(raw json.RawMessage, to *string) (problem string) {
	switch {
	case raw == nil:
		return "missing"
	case json.Unmarshal(raw, to) != nil || string(raw) == "null":
		return "not a text"
	case strings.TrimSpace(*to) == "":
		return "empty"
	case strings.ContainsRune(*to, 0):
		return "holds a NUL character"
	case strings.ContainsRune(*to, utf8.RuneError):
		return "holds a character that is not valid Unicode"
	}
	return ""
}

type addOut struct {
	Added bool `json:"added"` // false if it existed
	Total int  `json:"total"`
}

func (g *graph) add(ctx context.Context, in rawTriple) (out addOut, err error) {
	t, err := in.triple()
	if err != nil {
		return addOut{}, err
	}
	err = g.change(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO triple (subject, predicate, object) VALUES (?, ?, ?)", t.Subject, t.Predicate, t.Object)
		if err != nil {
			return err
		}
		if out.Added, out.Total, err = counted(ctx, tx, result); err != nil {
			return err
		}
		if out.Added && out.Total > g.limit {
			return domain.Fail(kgcode.Full, fmt.Sprintf("the limit is %d triples; nothing was added", g.limit), nil)
		}
		return nil
	})
	return out, err
}

type deleteOut struct {
	Deleted bool `json:"deleted"` // false if it did not exist
	Total   int  `json:"total"`
}

func (g *graph) delete(ctx context.Context, in rawTriple) (out deleteOut, err error) {
	t, err := in.triple()
	if err != nil {
		return deleteOut{}, err
	}
	err = g.change(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, "DELETE FROM triple WHERE subject = ? AND predicate = ? AND object = ?", t.Subject, t.Predicate, t.Object)
		if err != nil {
			return err
		}
		out.Deleted, out.Total, err = counted(ctx, tx, result)
		return err
	})
	return out, err
}

// counted returns whether a statement changed a triple, and the number of triples now.
func counted(ctx context.Context, tx *sql.Tx, result sql.Result) (changed bool, total int, err error) {
	rows, err := result.RowsAffected()
	if err != nil {
		return false, 0, err
	}
	err = tx.QueryRowContext(ctx, "SELECT triples FROM total").Scan(&total)
	return rows > 0, total, err
}

// change runs a function in a transaction. The changes are durable when change returns nil; otherwise there are none.
func (g *graph) change(ctx context.Context, run func(*sql.Tx) error) (err error) {
	defer g.explain(ctx, &err)
	db, err := g.open(ctx)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	if err := run(tx); err != nil {
		return err
	}
	return tx.Commit()
}

type queryIn struct {
	Subject   *string `json:"subject"`
	Predicate *string `json:"predicate"`
	Object    *string `json:"object"`
	Limit     int     `json:"limit"`
	Cursor    string  `json:"cursor"`
}

type queryOut struct {
	Triples    []Triple `json:"triples"`
	Truncated  bool     `json:"truncated"`
	NextCursor string   `json:"nextCursor,omitempty"`
}

func (g *graph) query(ctx context.Context, in queryIn) (out queryOut, err error) {
	limit, after := cmp.Or(in.Limit, defaultResults), int64(0)
	if in.Cursor != "" {
		if after, err = strconv.ParseInt(in.Cursor, 36, 64); err != nil || after < 0 {
			return queryOut{}, domain.Fail(common.InvalidParams, "cursor: not one that this method has returned", err)
		}
	}
	defer g.explain(ctx, &err)
	db, err := g.open(ctx)
	if err != nil {
		return queryOut{}, err
	}
	text, args := in.statement(after, limit)
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return queryOut{}, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err is checked
	return collect(rows, limit)
}

// statement returns the query for one more triple than the limit.
func (in *queryIn) statement(after int64, limit int) (string, []any) {
	where, args := []string{"id > ?"}, []any{after}
	for _, part := range []struct {
		column string
		value  *string
	}{{"subject", in.Subject}, {"predicate", in.Predicate}, {"object", in.Object}} {
		if part.value != nil {
			where, args = append(where, part.column+" = ?"), append(args, *part.value)
		}
	}
	return "SELECT id, subject, predicate, object FROM triple WHERE " + strings.Join(where, " AND ") + " ORDER BY id LIMIT ?", append(args, limit+1)
}

func collect(rows *sql.Rows, limit int) (queryOut, error) {
	out, last, bytes := queryOut{Triples: []Triple{}}, int64(0), 0
	for rows.Next() {
		var id int64
		var t Triple
		if err := rows.Scan(&id, &t.Subject, &t.Predicate, &t.Object); err != nil {
			return queryOut{}, err
		}
		bytes += len(t.Subject) + len(t.Predicate) + len(t.Object)
		if len(out.Triples) == limit || bytes > maxBytes {
			out.Truncated, out.NextCursor = true, strconv.FormatInt(last, 36)
			break
		}
		out.Triples, last = append(out.Triples, t), id
	}
	return out, rows.Err()
}

type statsOut struct {
	Triples    int `json:"triples"`
	Limit      int `json:"limit"`
	Subjects   int `json:"subjects"`
	Predicates int `json:"predicates"`
	Objects    int `json:"objects"`
}

func (g *graph) stats(ctx context.Context, _ struct{}) (out statsOut, err error) {
	defer g.explain(ctx, &err)
	db, err := g.open(ctx)
	if err != nil {
		return statsOut{}, err
	}
	out = statsOut{Limit: g.limit}
	err = db.QueryRowContext(ctx, `SELECT triples, (SELECT count(DISTINCT subject) FROM triple), (SELECT count(DISTINCT predicate) FROM triple),
		(SELECT count(DISTINCT object) FROM triple) FROM total`).Scan(&out.Triples, &out.Subjects, &out.Predicates, &out.Objects)
	return out, err
}
