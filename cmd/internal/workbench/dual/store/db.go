// Package store keeps tasks, thought records, audit sessions, rounds of votes, outcomes and measured calls in one
// SQLite database. Every change is one transaction: after a crash it is complete or absent.
//
// Several processes may use a database at the same time. A change waits for the others for a limited time and then
// fails with [ErrBusy].
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

	"github.com/ncruces/go-sqlite3"

	"github.com/candor-mcp/candor/cmd/internal/sqlitedb"
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
	ErrNotFound = errors.New("no such row")
	ErrBusy     = errors.New("the database is busy")
	ErrFull     = errors.New("the database is full")
	ErrUnique   = errors.New("a row with this identity exists")
	ErrGone     = errors.New("a file of the database was removed or replaced while it was open")
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
	files map[string]os.FileInfo // the files that were opened, by what follows the name
}

// Open opens the database in a directory, which it creates if it does not exist.
func Open(ctx context.Context, dir string, o Options) (*Store, error) {
	s := newStore(dir, o)
	err := sqlitedb.Create(s.name)
	if err != nil {
		return nil, err
	}
	if s.write, err = s.connect(false); err != nil {
		return nil, err
	}
	if err = s.setUp(ctx); err != nil {
		err = fmt.Errorf("opening %s: %w", FileName, err)
	} else if s.files, err = statFiles(s.name); err == nil {
		s.read, err = s.connect(true)
	}
	if err != nil {
		return nil, errors.Join(err, s.write.Close())
	}
	return s, nil
}

// OpenReadOnly opens a database for reading. It never waits for a change of another process, and [Store.Update] must
// not be called.
func OpenReadOnly(ctx context.Context, dir string) (*Store, error) {
	s := newStore(dir, Options{})
	var err error
	if s.read, err = s.connect(true); err != nil {
		return nil, err
	}
	version, err := Get(ctx, s, (*Tx).version)
	if err == nil && version != schemaVersion {
		err = errVersion(version)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", FileName, err), s.read.Close())
	}
	return s, nil
}

func newStore(dir string, o Options) *Store {
	if o.Wait <= 0 {
		o.Wait = 2 * time.Second
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 1 << 30
	}
	return &Store{o: o, name: filepath.Join(dir, FileName), turn: make(chan struct{}, 1)}
}

func (s *Store) connect(readOnly bool) (*sql.DB, error) {
	const pageSize = 4096
	db, err := sqlitedb.Open(s.name, sqlitedb.Options{ReadOnly: readOnly, BusyTimeout: s.o.Wait, Connected: func(c *sqlite3.Conn) error {
		return c.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", max(s.o.MaxBytes/pageSize, 1)))
	}})
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if readOnly {
		db.SetMaxOpenConns(4)
	}
	return db, nil
}

// Close closes the database.
func (s *Store) Close() error {
	err := s.read.Close()
	if s.write != nil {
		err = errors.Join(err, s.write.Close())
	}
	return err
}

// Tx is a transaction. It is valid until the function that got it returns.
type Tx struct {
	ctx context.Context //nolint:containedctx // a transaction lives as long as its context
	tx  *sql.Tx
}

func (t *Tx) exec(query string, args ...any) error {
	_, err := t.tx.ExecContext(t.ctx, query, args...)
	return err
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

// one returns the value of the only row of a query, or [ErrNotFound].
func one[T any](t *Tx, fields func(*T) []any, query string, args ...any) (*T, error) {
	var v T
	return &v, notFound(t.row(query, args...).Scan(fields(&v)...))
}

func notFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
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
	if err := s.checkFiles(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tx, err := s.begin(ctx, db)
	if err != nil {
		return s.classify(err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to undo; a panic passes by here, too
	if err := do(&Tx{ctx, tx}); err != nil {
		return s.classify(err)
	}
	if err := s.checkFiles(); err != nil {
		return err
	}
	return s.classify(tx.Commit())
}

// begin starts a transaction, or returns [ErrBusy] after the longest wait: SQLite tries for 10 s to get a lock in the -shm file, and cannot be
// interrupted meanwhile. The transaction ends with ctx.
func (s *Store) begin(ctx context.Context, db *sql.DB) (*sql.Tx, error) {
	done := make(chan struct{})
	var begun *sql.Tx
	var failed error
	go func() {
		defer close(done)
		if begun, failed = db.BeginTx(ctx, nil); failed == nil && db == s.read { // a change takes its lock with BEGIN
			_, failed = begun.ExecContext(ctx, "PRAGMA user_version")
		}
		if failed != nil && begun != nil {
			_ = begun.Rollback()
		}
	}()
	wait := time.NewTimer(s.o.Wait)
	defer wait.Stop()
	select {
	case <-done:
		return begun, failed
	case <-wait.C:
		return nil, ErrBusy
	}
}

// statFiles returns the files of an open database. The last two exist while any process has it open.
func statFiles(name string) (map[string]os.FileInfo, error) {
	files := map[string]os.FileInfo{}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(name + suffix)
		if err != nil {
			return nil, err
		}
		files[suffix] = info
	}
	return files, nil
}

// checkFiles returns [ErrGone] if another file, or none, is at one of the paths now. SQLite would continue with the unlinked file, and its
// content is lost when the process ends.
func (s *Store) checkFiles() error {
	for suffix, opened := range s.files {
		if now, err := os.Stat(s.name + suffix); err != nil || !os.SameFile(now, opened) {
			return ErrGone
		}
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

// schemaVersion is the version of the database that this program creates and reads.
const schemaVersion = 1

const schema = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('id', lower(hex(randomblob(16))));
CREATE TABLE tasks (
	id TEXT PRIMARY KEY, title TEXT NOT NULL, description TEXT NOT NULL, status TEXT NOT NULL, agent_id TEXT NOT NULL,
	parent_id TEXT REFERENCES tasks(id), context TEXT, result TEXT NOT NULL, version INTEGER NOT NULL,
	created_at TEXT NOT NULL, updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX tasks_status ON tasks(status);
CREATE TABLE task_dependencies (
	task_id TEXT NOT NULL REFERENCES tasks(id), depends_on TEXT NOT NULL REFERENCES tasks(id), PRIMARY KEY (task_id, depends_on)
) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (
	id TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE, task_id TEXT REFERENCES tasks(id), agent_id TEXT NOT NULL, begun_at TEXT NOT NULL,
	finalized_at TEXT, root TEXT, records INTEGER NOT NULL, chain TEXT, seq INTEGER
) STRICT;
CREATE TABLE thoughts (
	number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, task_id TEXT NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL,
	agent_id TEXT NOT NULL, session_id TEXT NOT NULL, content TEXT NOT NULL, timestamp TEXT NOT NULL, prev_hash TEXT NOT NULL,
	hash TEXT NOT NULL, chain TEXT, anchor INTEGER
) STRICT;
CREATE INDEX thoughts_task ON thoughts(task_id);
CREATE INDEX thoughts_seq ON thoughts(task_id, seq);
CREATE INDEX thoughts_session ON thoughts(session_id);
CREATE INDEX thoughts_unanchored ON thoughts(number) WHERE chain IS NULL;
CREATE TABLE rounds (
	id TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE, topic TEXT NOT NULL, proposal TEXT NOT NULL, proposer TEXT NOT NULL, quorum INTEGER NOT NULL,
	nonce TEXT NOT NULL, created_at TEXT NOT NULL, state TEXT NOT NULL, decided_at TEXT
) STRICT;
CREATE TABLE voters (round_id TEXT NOT NULL REFERENCES rounds(id), voter TEXT NOT NULL, PRIMARY KEY (round_id, voter)) STRICT, WITHOUT ROWID;
CREATE TABLE votes (
	round_id TEXT NOT NULL, voter TEXT NOT NULL, choice TEXT NOT NULL, cast_at TEXT NOT NULL,
	PRIMARY KEY (round_id, voter), FOREIGN KEY (round_id, voter) REFERENCES voters(round_id, voter)
) STRICT, WITHOUT ROWID;
CREATE TABLE equivocations (
	round_id TEXT NOT NULL, voter TEXT NOT NULL, first TEXT NOT NULL, attempted TEXT NOT NULL, at TEXT NOT NULL,
	PRIMARY KEY (round_id, voter), FOREIGN KEY (round_id, voter) REFERENCES votes(round_id, voter)
) STRICT, WITHOUT ROWID;
CREATE TABLE outcomes (
	number INTEGER PRIMARY KEY AUTOINCREMENT, agent_id TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE INDEX outcomes_agent ON outcomes(agent_id);
CREATE TABLE calls (
	number INTEGER PRIMARY KEY AUTOINCREMENT, upstream TEXT NOT NULL, tool TEXT NOT NULL, code TEXT NOT NULL, latency_us INTEGER NOT NULL,
	cost REAL NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE INDEX calls_upstream ON calls(upstream, number);
`

// setUp creates the tables of a new database. It takes the write lock only for that.
func (s *Store) setUp(ctx context.Context) error {
	var version int
	if err := s.write.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err == nil && version == schemaVersion {
		return nil
	}
	return s.Update(ctx, func(tx *Tx) error {
		switch version, err := tx.version(); {
		case err != nil:
			return err
		case version == 0:
			return tx.exec(schema + fmt.Sprintf("PRAGMA user_version = %d", schemaVersion))
		case version != schemaVersion:
			return errVersion(version)
		}
		return nil // another process created them
	})
}

// version returns the version of the database, 0 for a new one.
func (t *Tx) version() (version int, err error) {
	err = t.row("PRAGMA user_version").Scan(&version)
	return version, err
}

func errVersion(version int) error {
	return fmt.Errorf("version %d, want %d (hint: use the program that wrote it, or another --state folder)", version, schemaVersion)
}

// ID returns the id of the database, which identifies it in the ledger; [ErrNotFound] if the id was removed.
func (t *Tx) ID() (id string, err error) {
	err = t.row("SELECT value FROM meta WHERE name = 'id'").Scan(&id)
	return id, notFound(err)
}

// Tables returns the number of rows of each table.
func (t *Tx) Tables() (map[string]int64, error) {
	counts := map[string]int64{}
	for _, table := range []string{"tasks", "sessions", "thoughts", "rounds", "votes", "equivocations", "outcomes", "calls"} {
		n, err := t.count("SELECT count(*) FROM " + table)
		if err != nil {
			return nil, err
		}
		counts[table] = n
	}
	return counts, nil
}
