package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/sqlitedb"
	"github.com/ncruces/go-sqlite3"
)

// Options configures a database.
type Options struct {
	// Wait is the maximum wait for other processes and for other changes of this one; 0 is 2 seconds.
	Wait time.Duration
	// MaxBytes is the maximum size of the database; 0 is 1 GiB. A change that needs more fails with [ErrFull].
	MaxBytes int64
}

// Errors of a transaction that a caller can handle. Nothing was changed.
var (
	ErrBusy   = errors.New("the database is busy")
	ErrFull   = errors.New("the database is full")
	ErrUnique = errors.New("a row with this identity exists")
	ErrGone   = errors.New("the file of the database was removed or replaced while it was open")
)

// FileName is the name of the database in its directory.
const FileName = "dual.db"

// Store is an open database. It is safe for concurrent use.
type Store struct {
	o     Options
	name  string        // of the file
	turn  chan struct{} // held by the only change of this process
	write *sql.DB       // one connection; nil if the database was opened for reading
	read  *sql.DB
	file  os.FileInfo // the file that was opened

	copied string // directory of a copy that Close removes; "" if the database is not a copy
}

const (
	defaultWait     = 2 * time.Second
	defaultMaxBytes = 1 << 30
	pageSize        = 4096
	readers         = 4
)

// Open opens the database in a directory, which it creates if it does not exist.
func Open(ctx context.Context, dir string, o Options) (*Store, error) {
	if o.Wait <= 0 {
		o.Wait = defaultWait
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	name := filepath.Join(dir, FileName)
	s := &Store{o: o, name: name, turn: make(chan struct{}, 1)}
	var err error
	if s.write, err = connect(name, o, false); err != nil {
		return nil, err
	}
	s.write.SetMaxOpenConns(1)
	if err := s.setUp(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", FileName, err), s.write.Close())
	}
	if s.file, err = os.Stat(name); err != nil {
		return nil, errors.Join(err, s.write.Close())
	}
	if s.read, err = connect(name, o, true); err != nil {
		return nil, errors.Join(err, s.write.Close())
	}
	s.read.SetMaxOpenConns(readers)
	return s, nil
}

// setUp migrates the database to the version of this program. It takes the write lock only if there is something to do.
func (s *Store) setUp(ctx context.Context) error {
	var version int
	if err := s.write.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err == nil && version == len(schema) {
		return nil
	}
	return s.migrate(ctx)
}

func connect(name string, o Options, readOnly bool) (*sql.DB, error) {
	return open(name, o, sqlitedb.Options{ReadOnly: readOnly})
}

func open(name string, o Options, how sqlitedb.Options) (*sql.DB, error) {
	how.BusyTimeout = o.Wait
	how.Connected = func(c *sqlite3.Conn) error {
		return c.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", max(o.MaxBytes/pageSize, 1)))
	}
	return sqlitedb.Open(name, how)
}

// Close closes the database.
func (s *Store) Close() error {
	err := s.read.Close()
	if s.write != nil {
		err = errors.Join(err, s.write.Close())
	}
	if s.copied != "" {
		err = errors.Join(err, os.RemoveAll(s.copied))
	}
	return err
}

// Tx is a transaction. It is valid until the function that got it returns.
type Tx struct {
	ctx context.Context //nolint:containedctx // a transaction lives as long as its context
	tx  *sql.Tx
}

func (t *Tx) exec(query string, args ...any) (int64, error) {
	result, err := t.tx.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (t *Tx) row(query string, args ...any) *sql.Row {
	return t.tx.QueryRowContext(t.ctx, query, args...)
}

// rows calls scan for each row of a query.
func (t *Tx) rows(scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := t.tx.QueryContext(t.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err is asked below
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// collect returns one value for each row of a query. fields returns the destinations of the columns.
func collect[T any](t *Tx, fields func(*T) []any, query string, args ...any) ([]T, error) {
	all := []T{}
	err := t.rows(func(r *sql.Rows) error {
		var v T
		err := r.Scan(fields(&v)...)
		all = append(all, v)
		return err
	}, query, args...)
	return all, err
}

// ids returns the only column of a query.
func (t *Tx) ids(query string, args ...any) ([]string, error) {
	return collect(t, func(id *string) []any { return []any{id} }, query, args...)
}

// count returns the only number of a query.
func (t *Tx) count(query string, args ...any) (n int64, err error) {
	err = t.row(query, args...).Scan(&n)
	return n, err
}

// Update runs change in a transaction that excludes all other changes, in any process. If change returns an error,
// nothing is changed.
func (s *Store) Update(ctx context.Context, change func(*Tx) error) error {
	wait := time.NewTimer(s.o.Wait)
	defer wait.Stop()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-wait.C:
		return ErrBusy
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.in(ctx, s.write, change)
}

// View runs read in a transaction that sees a consistent state of the database.
func (s *Store) View(ctx context.Context, read func(*Tx) error) error { return s.in(ctx, s.read, read) }

// Get returns the result of read, which runs as in [Store.View].
func Get[T any](ctx context.Context, s *Store, read func(*Tx) (T, error)) (v T, err error) {
	err = s.View(ctx, func(tx *Tx) error {
		v, err = read(tx)
		return err
	})
	return v, err
}

func (s *Store) in(ctx context.Context, db *sql.DB, do func(*Tx) error) error {
	if err := s.checkFile(); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return s.classify(err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to undo; a panic passes by here, too
	if err := do(&Tx{ctx, tx}); err != nil {
		return s.classify(err)
	}
	if err := s.checkFile(); err != nil {
		return err
	}
	return s.classify(tx.Commit())
}

// checkFile returns [ErrGone] if the opened file is no longer at its path. SQLite would continue with the unlinked
// file, whose content is lost when the process ends.
func (s *Store) checkFile() error {
	if s.file == nil {
		return nil
	}
	if now, err := os.Stat(s.name); err != nil || !os.SameFile(now, s.file) {
		return ErrGone
	}
	return nil
}

// classify converts an error of SQLite to an error of this package.
func (s *Store) classify(err error) error {
	switch kind := sqlitedb.KindAt(err, s.name); {
	case kind == sqlitedb.Busy:
		return fmt.Errorf("%w: %w", ErrBusy, err)
	case kind == sqlitedb.Full:
		return fmt.Errorf("%w: %w", ErrFull, err)
	case sqlitedb.IsUnique(err):
		return fmt.Errorf("%w: %w", ErrUnique, err)
	default:
		return err
	}
}

// DamagedError is the error for a row with content that this package does not write.
type DamagedError struct {
	Table  string `json:"table"`
	Row    string `json:"row"` // its id
	Reason string `json:"reason"`
}

// Error names the row.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("row %q of %s is damaged: %s", e.Row, e.Table, e.Reason)
}

// scanError converts the error of reading a row: to [ErrNotFound] if there is no row, or to a [DamagedError] if a value
// has the wrong type.
func scanError(err error, table, row string) error {
	if err != nil && strings.HasPrefix(err.Error(), "sql: Scan error") {
		return &DamagedError{table, row, "a value has the wrong type"}
	}
	return notFound(err)
}

// conditions collects the conditions of a query. Omitting a condition lets SQLite use an index for the others; a
// condition that a parameter makes true would prevent that.
type conditions struct {
	parts []string
	args  []any
}

// equal requires a value of a column, unless the value is empty.
func (c *conditions) equal(column, value string) {
	if value != "" {
		c.add(column+" = ?", value)
	}
}

func (c *conditions) add(part string, value any) {
	c.parts = append(c.parts, part)
	c.args = append(c.args, value)
}

// where returns the clause, with spaces around it.
func (c *conditions) where() string {
	if len(c.parts) == 0 {
		return " "
	}
	return " WHERE " + strings.Join(c.parts, " AND ") + " "
}
