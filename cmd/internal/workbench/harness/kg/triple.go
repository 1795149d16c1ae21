package kg

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/candor-mcp/candor"
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

// check returns an error that names every invalid part.
func (t Triple) check() error {
	var invalid, long []string
	for _, part := range []struct{ name, text string }{{"subject", t.Subject}, {"predicate", t.Predicate}, {"object", t.Object}} {
		if problem := problemOf(part.text); problem != "" {
			invalid = append(invalid, part.name+": "+problem)
		} else if len(part.text) > maxPart {
			long = append(long, fmt.Sprintf("%s: longer than %d bytes", part.name, maxPart))
		}
	}
	switch {
	case len(invalid) > 0:
		return domain.Fail(kgcode.InvalidTriple, strings.Join(invalid, "; "), nil)
	case len(long) > 0:
		return domain.Fail(common.InputTooLarge, strings.Join(long, "; "), nil)
	}
	return nil
}

// problemOf returns what is wrong with a part of a triple, "" for a valid part.
func problemOf(text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return "empty"
	case strings.ContainsRune(text, 0):
		return "holds a NUL character"
	case strings.ContainsRune(text, utf8.RuneError):
		return "holds a character that is not valid Unicode"
	}
	return ""
}

type addOut struct {
	Added bool `json:"added"` // false if it existed
	Total int  `json:"total"`
}

func (g *graph) add(ctx context.Context, in Triple) (out addOut, err error) {
	many, err := g.addMany(ctx, manyIn{[]Triple{in}})
	return addOut{many.Added > 0, many.Total}, err
}

type manyIn struct {
	Triples []Triple `json:"triples"`
}

type manyOut struct {
	Added int `json:"added"` // those that were not there
	Total int `json:"total"`
}

func (g *graph) addMany(ctx context.Context, in manyIn) (out manyOut, err error) {
	for i, t := range in.Triples {
		err := t.check()
		var text string
		if e := candor.From(err); err != nil && len(in.Triples) > 1 && e.Details().Decode(&text) == nil {
			err = e.With(candor.WithDetails(fmt.Sprintf("triples[%d]: %s; nothing was added", i, text)))
		}
		if err != nil {
			return manyOut{}, err
		}
	}
	err = g.change(ctx, func(tx *sql.Tx) error {
		for _, t := range in.Triples {
			result, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO triple (subject, predicate, object) VALUES (?, ?, ?)", t.Subject, t.Predicate, t.Object)
			if err != nil {
				return err
			}
			n, err := result.RowsAffected()
			if err != nil {
				return err
			}
			out.Added += int(n)
		}
		if err := tx.QueryRowContext(ctx, "SELECT triples FROM total").Scan(&out.Total); err != nil {
			return err
		}
		if out.Added > 0 && out.Total > g.limit {
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

func (g *graph) delete(ctx context.Context, t Triple) (deleteOut, error) {
	if err := t.check(); err != nil {
		return deleteOut{}, err
	}
	removed, err := g.remove(ctx, "DELETE FROM triple WHERE subject = ? AND predicate = ? AND object = ?", t.Subject, t.Predicate, t.Object)
	return deleteOut{removed.Deleted > 0, removed.Total}, err
}

type entityIn struct {
	Entity string `json:"entity"`
}

type entityOut struct {
	Deleted int64 `json:"deleted"`
	Total   int   `json:"total"`
}

func (g *graph) deleteEntity(ctx context.Context, in entityIn) (entityOut, error) {
	return g.remove(ctx, "DELETE FROM triple WHERE subject = ?1 OR object = ?1", in.Entity)
}

// remove deletes triples with a statement.
func (g *graph) remove(ctx context.Context, statement string, args ...any) (out entityOut, err error) {
	err = g.change(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, statement, args...)
		if err != nil {
			return err
		}
		if out.Deleted, err = result.RowsAffected(); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, "SELECT triples FROM total").Scan(&out.Total)
	})
	return out, err
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

// cursorMark begins every cursor, so that another text is refused.
const cursorMark = "after:"

type queryIn struct {
	Subject   *string `json:"subject"`
	Predicate *string `json:"predicate"`
	Object    *string `json:"object"`
	Q         string  `json:"q"` // a part of any of them
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
		number, ok := strings.CutPrefix(in.Cursor, cursorMark)
		if after, err = strconv.ParseInt(number, 10, 64); err != nil || after < 0 || !ok {
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
	if in.Q != "" {
		const like = ` LIKE '%' || ? || '%' ESCAPE '\'`
		q := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(in.Q)
		where, args = append(where, "(subject"+like+" OR predicate"+like+" OR object"+like+")"), append(args, q, q, q)
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
			out.Truncated, out.NextCursor = true, cursorMark+strconv.FormatInt(last, 10)
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
