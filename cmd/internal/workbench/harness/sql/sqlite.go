package sql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/sqlitedb"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
	sqlcode "github.com/candor-mcp/candor/codes/sql"
)

// sqlite is a database in a file.
type sqlite struct {
	path   string
	create bool // the first call creates the file
}

func (s *sqlite) tables() string {
	return `SELECT t.name AS "table", t.type AS kind, c.name AS "column", c.type AS type, c."notnull" AS "notNull", c.pk AS "primaryKey"
		FROM sqlite_schema t JOIN pragma_table_xinfo(t.name) c
		WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND (?1 IS NULL OR t.name = ?1 COLLATE NOCASE) ORDER BY t.name, c.cid`
}

func (s *sqlite) health() domain.Health {
	if err := sqlitedb.CheckFile(s.path); err != nil {
		return domain.Health{Details: fmt.Sprintf("the database file: %s; set MCP_SQL_URL to another one", err)}
	}
	if _, err := os.Stat(s.path); err == nil || s.create {
		return domain.Health{OK: true}
	}
	return domain.Health{Details: "the database file does not exist; set MCP_SQL_URL to an existing one, or MCP_SQL_WRITE=1 to create it"}
}

// sqliteMemory is the maximum memory of one connection, in bytes. It is used for sorting and grouping, and maxSQLite
// connections exist at the same time.
const (
	sqliteMemory = 128 << 20
	maxSQLite    = 4
)

func (s *sqlite) run(ctx context.Context, st statement, write bool) (_ *Result, err error) {
	defer func() {
		if sqlitedb.KindOf(err) == sqlitedb.NoMemory {
			err = noMemory(err)
		}
	}()
	defer sqlitedb.RecoverNoMemory(&err) // after the connection was closed
	c, err := s.connect(ctx, write)
	if err != nil && ctx.Err() != nil {
		return nil, notStarted("the database could not be opened in time", err)
	}
	if err != nil {
		return nil, s.connFailed(err)
	}
	defer c.Close() //nolint:errcheck // a statement that was committed is durable
	prepared, tail, err := c.Prepare(st.text)
	if err != nil {
		return nil, s.explain(st.text, err)
	}
	if prepared == nil {
		return nil, rejected(rejection{Message: "the statement is empty"}, nil)
	}
	defer prepared.Close() //nolint:errcheck // errors of the statement are reported by Step
	if err := s.checkAlone(c, tail); err != nil {
		return nil, err
	}
	if err := bind(prepared, st.params); err != nil {
		return nil, err
	}
	out := collector{limit: st.rows, result: Result{Rows: [][]any{}, Columns: columns(prepared)}}
	for prepared.Step() {
		if out.full() {
			if !write {
				return &out.result, nil
			}
			continue // all rows must be changed, though not all are returned
		}
		row, size := readRow(prepared)
		if err := out.add(row, size); err != nil {
			return nil, err
		}
	}
	if err := prepared.Err(); err != nil {
		return nil, s.explain(st.text, err)
	}
	if write {
		n := c.Changes()
		out.result.Affected = &n
	}
	return &out.result, nil
}

// checkAlone refuses a second statement after the first. Preparing the rest of the text fails for other reasons too: the
// time may be over.
func (s *sqlite) checkAlone(c *sqlite3.Conn, tail string) error {
	more, _, err := c.Prepare(tail)
	if more != nil {
		_ = more.Close() // it was not run
	}
	kind := sqlitedb.KindAt(err, s.path)
	switch {
	case more == nil && err == nil:
		return nil
	case err == nil || kind == sqlitedb.Other || kind == sqlitedb.Denied:
		return rejected(rejection{Message: "more than one statement"}, err)
	default:
		return s.explain(tail, err)
	}
}

func (s *sqlite) connect(ctx context.Context, write bool) (*sqlite3.Conn, error) {
	if info, err := os.Stat(s.path); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	if s.create { // an empty file is an empty database
		if err := sqlitedb.Create(s.path); err != nil {
			return nil, err
		}
	}
	return sqlitedb.Connect(ctx, s.path, sqlitedb.Options{
		ReadOnly: !write, MaxMemory: sqliteMemory, Connected: func(c *sqlite3.Conn) error { return restrict(c, write) },
	})
}

// restrict limits the actions and resources of a statement.
func restrict(c *sqlite3.Conn, write bool) error {
	if err := c.Exec("PRAGMA temp_store=MEMORY; PRAGMA mmap_size=0"); err != nil {
		return err
	}
	c.Limit(sqlite3.LIMIT_LENGTH, maxValue)
	c.Limit(sqlite3.LIMIT_SQL_LENGTH, maxStatement+1)
	c.Limit(sqlite3.LIMIT_ATTACHED, 0)
	c.Limit(sqlite3.LIMIT_VARIABLE_NUMBER, maxParams)
	return c.SetAuthorizer(func(action sqlite3.AuthorizerActionCode, name, argument, _, _ string) sqlite3.AuthorizerReturnCode {
		if allowed(action, name, argument, write) {
			return sqlite3.AUTH_OK
		}
		return sqlite3.AUTH_DENY
	})
}

// readable lists the pragmas that read the schema. It excludes database_list, which shows absolute paths.
var readable = []string{"table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list"}

// allowed decides about one action of a statement while SQLite prepares it. It refuses everything that is not listed:
// ATTACH, pragmas, transactions, virtual tables.
func allowed(action sqlite3.AuthorizerActionCode, name, argument string, write bool) bool {
	switch action { //nolint:exhaustive // the rest is refused
	case sqlite3.AUTH_SELECT, sqlite3.AUTH_READ, sqlite3.AUTH_RECURSIVE:
		return true
	case sqlite3.AUTH_FUNCTION:
		return !strings.EqualFold(argument, "load_extension")
	case sqlite3.AUTH_PRAGMA:
		return slices.Contains(readable, strings.ToLower(name))
	case sqlite3.AUTH_INSERT, sqlite3.AUTH_UPDATE, sqlite3.AUTH_DELETE, sqlite3.AUTH_CREATE_TABLE, sqlite3.AUTH_CREATE_INDEX, sqlite3.AUTH_CREATE_VIEW,
		sqlite3.AUTH_CREATE_TRIGGER, sqlite3.AUTH_DROP_TABLE, sqlite3.AUTH_DROP_INDEX, sqlite3.AUTH_DROP_VIEW, sqlite3.AUTH_DROP_TRIGGER,
		sqlite3.AUTH_ALTER_TABLE, sqlite3.AUTH_REINDEX, sqlite3.AUTH_ANALYZE:
		return write
	}
	return false
}

func bind(s *sqlite3.Stmt, params []param) error {
	if err := checkParams(s.BindCount(), len(params)); err != nil {
		return err
	}
	for i, p := range params {
		var err error
		switch v := p.value.(type) {
		case nil:
			err = s.BindNull(i + 1)
		case bool:
			err = s.BindBool(i+1, v)
		case string:
			err = s.BindText(i+1, v)
		case json.Number:
			if n, parseErr := v.Int64(); parseErr == nil {
				err = s.BindInt64(i+1, n)
			} else {
				f, _ := v.Float64() // infinite if out of range
				err = s.BindFloat(i+1, f)
			}
		}
		if err != nil {
			return domain.Fail(common.InvalidParams, "params: a value cannot be bound", err)
		}
	}
	return nil
}

func columns(s *sqlite3.Stmt) []Column {
	all := make([]Column, s.ColumnCount())
	for i := range all {
		all[i] = Column{Name: s.ColumnName(i), Type: strings.ToLower(s.ColumnDeclType(i))}
	}
	return all
}

func readRow(s *sqlite3.Stmt) (row []any, size int) {
	row = make([]any, s.ColumnCount())
	for i := range row {
		switch s.ColumnType(i) {
		case sqlite3.INTEGER:
			row[i], size = integer(s.ColumnInt64(i)), size+8
		case sqlite3.FLOAT:
			row[i], size = float(s.ColumnFloat(i)), size+8
		case sqlite3.TEXT:
			if text := s.ColumnText(i); utf8.ValidString(text) {
				row[i], size = text, size+len(text)
			} else {
				row[i], size = Binary{[]byte(text)}, size+len(text)
			}
		case sqlite3.BLOB:
			blob := s.ColumnBlob(i, nil)
			row[i], size = Binary{blob}, size+len(blob)
		default:
			size += 4
		}
	}
	return row, size
}

func (s *sqlite) connFailed(err error) error {
	switch sqlitedb.KindAt(err, s.path) { //nolint:exhaustive // the rest is not worth a retry
	case sqlitedb.Busy:
		return domain.Fail(sqlcode.Conn, "the database is in use", err)
	case sqlitedb.Corrupt:
		return domain.Fail(candor.CodeDataCorrupt, "the database file is damaged or not a database", err)
	case sqlitedb.Full:
		return domain.Fail(candor.CodeDiskFull, "nothing was changed", err)
	}
	return domain.Fail(sqlcode.Conn, "the database file is missing or cannot be opened", err, candor.WithRetry(candor.NoRetry()),
		candor.WithSuggestion("Tell the operator; continue without the database."))
}

func noMemory(cause error) error {
	details := fmt.Sprintf("the statement needs more than %d MiB of memory and was undone; select, sort or group less at once", sqliteMemory>>20)
	return domain.Fail(common.LimitExceeded, details, cause)
}

// explain converts an error of a statement to one with a code.
func (s *sqlite) explain(text string, err error) error {
	switch sqlitedb.KindAt(err, s.path) { //nolint:exhaustive // the rest is the statement's fault
	case sqlitedb.Busy:
		return domain.Fail(common.Timeout, "the database is in use; nothing was changed", err)
	case sqlitedb.Interrupted:
		return timeout(err)
	case sqlitedb.Full:
		return domain.Fail(candor.CodeDiskFull, "nothing was changed", err)
	case sqlitedb.Corrupt, sqlitedb.CantOpen:
		return s.connFailed(err)
	case sqlitedb.ReadOnly, sqlitedb.Denied:
		return rejected(rejection{Message: "the statement does something that is not allowed here", Hint: "sql/query only reads; ATTACH, PRAGMA and transactions are never allowed"}, err)
	}
	if errors.Is(err, sqlite3.TOOBIG) {
		return tooLarge(err)
	}
	r := rejection{Message: err.Error()}
	var e *sqlite3.Error
	if errors.As(err, &e) {
		r.Message = strings.TrimPrefix(r.Message, "sqlite3: ")
		if rest := e.SQL(); rest != "" && strings.HasSuffix(text, rest) {
			r.Position = utf8.RuneCountInString(text[:len(text)-len(rest)]) + 1
		}
	}
	return rejected(r, err)
}
