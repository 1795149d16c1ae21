package failures

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/candor-mcp/candor/cmd/internal/scratch"
	"github.com/candor-mcp/candor/cmd/internal/sqlitedb"
)

// schema has the failures, and once each combination of names and each chain that failures have in common. The index
// answers all queries but those for a text or for whole rows. folded is the message in lower case if it is not ASCII. repeated has the
// refs of failures that a gateway recorded too, see package repeated, and the gateway's entries.
const schema = `
CREATE TABLE chains(id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, node TEXT NOT NULL);
CREATE TABLE names(id INTEGER PRIMARY KEY, server TEXT, tool TEXT, code TEXT, class TEXT, verdict TEXT, origin TEXT, outcome TEXT,
	UNIQUE(server, tool, code, class, verdict, origin, outcome));
CREATE TABLE failures(chain INTEGER, time INTEGER, seq INTEGER, names INTEGER, session TEXT, ref TEXT,
	message TEXT, folded BLOB, retry TEXT, attempt INTEGER, latency INTEGER);
CREATE TABLE repeated(ref TEXT NOT NULL, chain INTEGER, seq INTEGER, PRIMARY KEY(ref, chain, seq)) WITHOUT ROWID;
CREATE INDEX place ON failures(time, chain, seq, names, session, ref);`

// database is an SQLite database in a folder of its own, which is removed with it: it is read from the ledger again at
// each start. One goroutine writes; readers wait for a free connection.
type database struct {
	dir     *scratch.Dir
	writer  *sqlite3.Conn
	readers chan *sqlite3.Conn

	insertRow *sqlite3.Stmt
	ids       map[names]int64 // of the names that were last inserted
}

// names are what many failures have in common.
type names struct{ server, tool, code, class, verdict, origin, outcome string }

// Limits of a database.
const (
	connections = 4
	maxNames    = 10_000 // kept in memory
)

const folderPrefix = "console-"

// openDatabase creates an empty database in the user's cache folder.
func openDatabase() (db *database, err error) {
	parent, err := os.UserCacheDir()
	if err != nil {
		parent = os.TempDir()
	}
	parent = filepath.Join(parent, "candor")
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, err
	}
	scratch.Sweep(parent, folderPrefix)
	db = &database{readers: make(chan *sqlite3.Conn, connections), ids: map[names]int64{}}
	if db.dir, err = scratch.New(parent, folderPrefix); err != nil {
		return nil, err
	}
	if err := db.connect(); err != nil {
		return nil, errors.Join(fmt.Errorf("making the index of the console: %w", err), db.close())
	}
	return db, nil
}

func (db *database) connect() (err error) {
	if db.writer, err = db.connection(); err != nil {
		return err
	}
	if err := db.writer.Exec(schema); err != nil {
		return err
	}
	for range connections {
		c, err := db.connection()
		if err != nil {
			return err
		}
		db.readers <- c
	}
	const insert = "INSERT INTO failures VALUES(?,?,?,?,?,?,?,?,?,?,?)"
	db.insertRow, _, err = db.writer.Prepare(insert)
	return err
}

func (db *database) connection() (*sqlite3.Conn, error) {
	return sqlitedb.Connect(context.Background(), filepath.Join(db.dir.Path, "index.db"), sqlitedb.Options{Connected: func(c *sqlite3.Conn) error {
		flags := sqlite3.DETERMINISTIC | sqlite3.INNOCUOUS
		return errors.Join(
			c.Exec("PRAGMA synchronous=OFF; PRAGMA cache_size=-16000"), // it is made again after a crash
			c.CreateFunction("named", 2, flags, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
				ctx.ResultBool(is(arg[0].Text(), arg[1].Text()))
			}),
			c.CreateFunction("has", 2, flags, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
				ctx.ResultBool(strings.Contains(strings.ToLower(arg[1].Text()), arg[0].Text()))
			}))
	}})
}

func (db *database) close() error {
	var errs []error
	if db.insertRow != nil {
		errs = append(errs, db.insertRow.Close())
	}
	if db.writer != nil {
		errs = append(errs, db.writer.Close())
	}
	for range len(db.readers) {
		errs = append(errs, (<-db.readers).Close())
	}
	db.dir.Remove()
	return errors.Join(errs...)
}

// read runs queries on one connection, so that they see the same state.
func (db *database) read(ctx context.Context, use func(c *sqlite3.Conn) error) error {
	select {
	case c := <-db.readers:
		defer func() { db.readers <- c }()
		c.SetInterrupt(ctx)
		err := c.Exec("BEGIN")
		if err == nil {
			err = use(c)
		}
		c.SetInterrupt(context.Background())
		err = errors.Join(err, c.Exec("ROLLBACK"))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// query calls row with each row of a query.
func query(c *sqlite3.Conn, text string, args []any, row func(*sqlite3.Stmt)) error {
	st, _, err := c.Prepare(text)
	if err != nil {
		return err
	}
	if err := bind(st, args...); err != nil {
		return errors.Join(err, st.Close())
	}
	for st.Step() {
		row(st)
	}
	return errors.Join(st.Err(), st.Close())
}

func bind(st *sqlite3.Stmt, args ...any) error {
	for i, arg := range args {
		var err error
		switch v := arg.(type) {
		case int64:
			err = st.BindInt64(i+1, v)
		case string:
			err = st.BindText(i+1, v)
		case []byte:
			err = st.BindBlob(i+1, v)
		case nil:
			err = st.BindNull(i + 1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// write runs changes in a transaction.
func (db *database) write(change func() error) error {
	if err := db.writer.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := change(); err != nil {
		clear(db.ids)
		return errors.Join(err, db.writer.Exec("ROLLBACK"))
	}
	return db.writer.Exec("COMMIT")
}

// insert inserts a failure of a chain.
func (db *database) insert(chain int64, f *Failure) error {
	id, err := db.namesID(names{f.Server, f.Tool, f.Code, f.Class, f.Verdict, f.Origin, string(f.Outcome)})
	if err != nil {
		return err
	}
	var folded any
	if strings.ContainsFunc(f.Message, func(r rune) bool { return r >= 0x80 || r == 0 }) {
		folded = []byte(strings.ToLower(f.Message))
	}
	err = bind(db.insertRow, chain, f.Time.UnixMicro(), int64(f.ID.Seq), id, f.Session, f.Ref, //nolint:gosec // 18 digits
		f.Message, folded, f.Retry, int64(f.Attempt), f.Latency.Microseconds())
	if err != nil {
		return err
	}
	db.insertRow.Step()
	return db.insertRow.Reset()
}

func (db *database) namesID(n names) (int64, error) {
	if id, ok := db.ids[n]; ok {
		return id, nil
	}
	const insert = "INSERT INTO names(server, tool, code, class, verdict, origin, outcome) VALUES(?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET server=server RETURNING id"
	var id int64
	err := query(db.writer, insert, []any{n.server, n.tool, n.code, n.class, n.verdict, n.origin, n.outcome}, func(st *sqlite3.Stmt) { id = st.ColumnInt64(0) })
	if len(db.ids) >= maxNames {
		clear(db.ids)
	}
	db.ids[n] = id
	return id, err
}

// repeat notes the ref of a failure that an entry of a chain records again.
func (db *database) repeat(chain int64, r repeat) error {
	return query(db.writer, "INSERT OR IGNORE INTO repeated VALUES(?,?,?)", []any{r.ref, chain, int64(r.seq)}, func(*sqlite3.Stmt) {}) //nolint:gosec // 18 digits
}

// addChain returns the number of a chain.
func (db *database) addChain(path string) (id int64, err error) {
	const insert = "INSERT INTO chains(path, node) VALUES(?,?) ON CONFLICT DO UPDATE SET path=path RETURNING id"
	err = query(db.writer, insert, []any{path, nodeOf(path)}, func(st *sqlite3.Stmt) { id = st.ColumnInt64(0) })
	return id, err
}

// remove removes the failures of a chain before an entry, and returns how many there were.
func (db *database) remove(chain, before int64) (n int64, err error) {
	err = query(db.writer, "DELETE FROM failures WHERE chain=? AND seq<?", []any{chain, before}, func(*sqlite3.Stmt) {})
	n = db.writer.Changes()
	return n, errors.Join(err, query(db.writer, "DELETE FROM repeated WHERE chain=? AND seq<?", []any{chain, before}, func(*sqlite3.Stmt) {}))
}
