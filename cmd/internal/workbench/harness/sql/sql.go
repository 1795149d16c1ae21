// Package sql is the sql domain of the harness: it queries a relational database, SQLite in a file or a PostgreSQL
// server.
//
// The database is read-only unless the configuration allows writing, and the database itself enforces that: SQLite
// opens the file read-only and its authorizer refuses everything but reading, PostgreSQL runs the statement in a READ
// ONLY transaction that is rolled back. The package does not inspect SQL, except that it refuses COPY and transaction
// control for PostgreSQL. Each call has a separate connection, so that no setting, lock or temporary table outlives it,
// and runs exactly one statement, whose parameters are bound and never inserted into the text.
package sql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
	"github.com/candor-mcp/candor/codes/common"
	sqlcode "github.com/candor-mcp/candor/codes/sql"
)

// Name is the name of the domain in the catalogue.
const Name = "sql"

// Limits of the domain.
const (
	defaultTimeout = 10 * time.Second
	maxTimeout     = 100 * time.Second
	maxStatement   = 100_000 // bytes
	maxParams      = 1000
	maxRows        = 1000
	defaultRows    = 100
	maxBytes       = 1 << 20 // of the values in one answer
	maxValue       = 8 << 20 // of a value that the database computes
	maxParallel    = 8
)

// engine runs statements in one kind of database. Its errors have codes.
type engine interface {
	// run executes one statement. It may change the database only if write is true; the change is durable when run
	// returns nil.
	run(ctx context.Context, s statement, write bool) (*Result, error)
	// tables returns a statement that lists tables and columns, of one table if its parameter is not null.
	tables() string
	health() domain.Health
}

// statement is one statement with its parameters and limits.
type statement struct {
	text   string
	params []param
	rows   int
}

// database implements the domain.
type database struct {
	engine  engine
	write   bool
	timeout time.Duration
	slots   chan struct{} // limits the number of connections
}

// Open returns the domain. It does not connect, because every call opens a separate connection. MCP_SQL_URL is sqlite:/absolute/path or
// postgres://…; it may contain a password and is never shown. The default is a SQLite file below the state directory. MCP_SQL_WRITE=1 allows
// sql/execute, MCP_SQL_ALLOW_SUPERUSER=1 accepts PostgreSQL roles that can access files and programs of the server, and MCP_SQL_TIMEOUT_MS
// limits a statement.
func Open(env domain.Environment) (domain.Domain, error) {
	v := domain.Variables{Getenv: env.Getenv, Private: env.Private}
	url := cmp.Or(env.Getenv("MCP_SQL_URL"), "sqlite:"+filepath.Join(env.State, "sql", "data.db"))
	d := &database{
		write: v.Flag("MCP_SQL_WRITE"), timeout: cmp.Or(v.Milliseconds("MCP_SQL_TIMEOUT_MS", 1, int(maxTimeout.Milliseconds())), defaultTimeout),
	}
	superuser := v.Flag("MCP_SQL_ALLOW_SUPERUSER")
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok && filepath.IsAbs(path) {
		if env.Getenv("MCP_SQL_URL") != "" {
			v.Outside("MCP_SQL_URL", path)
		}
		d.slots, d.engine = make(chan struct{}, maxSQLite), &sqlite{path: path, create: d.write}
	} else if _, err := pgconn.ParseConfig(url); err == nil && isPostgres(url) {
		d.slots, d.engine = make(chan struct{}, maxParallel), &postgres{url: url, timeout: d.timeout, allowSuperuser: superuser}
	} else {
		return domain.Domain{}, errors.New("MCP_SQL_URL: want sqlite:/absolute/path or postgres://user:password@host/database")
	}
	return domain.Domain{
		Name:    Name,
		About:   "Query a relational database.",
		Methods: d.methods(),
		Health:  func(context.Context) domain.Health { return d.engine.health() },
	}, v.Err
}

func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

func (d *database) methods() []domain.Method {
	input := fmt.Sprintf(`{"sql":{"type":"string","minLength":1,"description":"one statement"},`+
		`"params":{"type":"array","maxItems":%d,"items":{"type":["string","number","boolean","null"]},"description":"values of ?1 (SQLite) or $1 (PostgreSQL) and so on"},`+
		`"limit":{"type":"integer","minimum":1,"maximum":%d,"description":"most rows, %d by default"}}`, maxParams, maxRows, defaultRows)
	codes := []candor.Code{
		sqlcode.Conn, sqlcode.Query, common.Timeout, common.LimitExceeded, common.InputTooLarge,
		candor.CodeDataCorrupt, candor.CodeDiskFull, // reading a database file needs a little disk space, too
	}
	return []domain.Method{
		{
			Name: "sql/query", About: "Run one statement that reads, and return its rows. It cannot change anything.",
			Input: input, Required: []string{"sql"}, Codes: codes, ReadOnly: true, Idempotent: true, OpenWorld: true, Run: domain.Bind(d.query),
		},
		{
			Name: "sql/execute", About: "Run one statement that may change data, in a transaction of its own.",
			Input: input, Required: []string{"sql"}, Codes: append(codes[:len(codes):len(codes)], common.Unsupported),
			Destructive: true, OpenWorld: true, Run: domain.Bind(d.execute),
		},
		{
			Name: "sql/tables", About: "List tables and views with their columns and types, all or one.",
			Input: `{"table":{"type":"string","minLength":1,"description":"name of one table or view; without it all are listed"}}`, Codes: codes, ReadOnly: true, Idempotent: true, OpenWorld: true, Run: domain.Bind(d.tables),
		},
	}
}

type queryIn struct {
	SQL    string  `json:"sql"`
	Params []param `json:"params"`
	Limit  int     `json:"limit"`
}

func (d *database) query(ctx context.Context, in queryIn) (*Result, error) {
	return d.run(ctx, in, false)
}

func (d *database) execute(ctx context.Context, in queryIn) (*Result, error) {
	if !d.write {
		return nil, domain.Fail(common.Unsupported, "this server only reads; MCP_SQL_WRITE=1 allows writing", nil,
			candor.WithSuggestion("Read with sql/query, or ask the operator to allow writing."))
	}
	return d.run(ctx, in, true)
}

type tablesIn struct {
	Table *string `json:"table"`
}

func (d *database) tables(ctx context.Context, in tablesIn) (*Result, error) {
	name := param{}
	if in.Table != nil {
		name.value = *in.Table
	}
	out, err := d.run(ctx, queryIn{SQL: d.engine.tables(), Params: []param{name}, Limit: maxRows}, false)
	if err == nil && in.Table != nil && len(out.Rows) == 0 {
		return nil, rejected(rejection{Message: "there is no such table or view", Hint: "sql/tables without a table lists all"}, nil)
	}
	return out, err
}

func (d *database) run(ctx context.Context, in queryIn, write bool) (*Result, error) {
	switch {
	case len(in.SQL) > maxStatement:
		return nil, domain.Fail(common.InputTooLarge, fmt.Sprintf("sql: longer than %d bytes", maxStatement), nil)
	case strings.ContainsRune(in.SQL, 0):
		return nil, domain.Fail(common.InvalidParams, "sql: holds a NUL character", nil)
	}
	if in.Limit <= 0 {
		in.Limit = defaultRows
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return nil, notStarted("other calls used all connections", ctx.Err())
	}
	return d.engine.run(ctx, statement{text: in.SQL, params: in.Params, rows: in.Limit}, write)
}

// notStarted returns the error for a call that timed out before its statement began.
func notStarted(why string, cause error) error {
	return domain.Fail(common.Timeout, why+"; the statement was not run", cause)
}

// timeout returns the error for a statement that was cancelled. Its effects were undone.
func timeout(cause error) error {
	return domain.Fail(common.Timeout, "the statement was cancelled and undone", cause)
}
