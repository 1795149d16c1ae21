package sqlitedb_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/candor-mcp/candor/cmd/internal/sqlitedb"
)

func open(t *testing.T, path string, o sqlitedb.Options) *sql.DB {
	t.Helper()
	db, err := sqlitedb.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func mustExec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func TestOpenAppliesSettings(t *testing.T) {
	// The name contains every character with a special meaning in a URL.
	db := open(t, filepath.Join(t.TempDir(), "a b?mode=memory#c%41&.db"), sqlitedb.Options{})
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000", "trusted_schema": "0",
	} {
		var got string
		if err := db.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", pragma, got, err, want)
		}
	}
}

func TestReadOnlyCannotBeUndone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.db")
	mustExec(t, open(t, path, sqlitedb.Options{}), "CREATE TABLE t(a)")
	db := open(t, path, sqlitedb.Options{ReadOnly: true})
	db.SetMaxOpenConns(1)
	for _, statement := range []string{"INSERT INTO t VALUES(1)", "PRAGMA query_only=OFF; INSERT INTO t VALUES(1)"} {
		if _, err := db.Exec(statement); sqlitedb.KindOf(err) != sqlitedb.ReadOnly {
			t.Errorf("%s: got %v", statement, err)
		}
	}
	missing := open(t, path+"2", sqlitedb.Options{ReadOnly: true})
	if err := missing.Ping(); sqlitedb.KindOf(err) != sqlitedb.CantOpen {
		t.Errorf("a missing file: got %v", err)
	}
	if _, err := os.Stat(path + "2"); err == nil {
		t.Error("the missing file was created")
	}
}

func TestKinds(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "data.db"), sqlitedb.Options{BusyTimeout: time.Millisecond})
	mustExec(t, db, "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT UNIQUE NOT NULL); INSERT INTO t VALUES(1,'x')")
	cases := map[string]struct {
		run  func() error
		want sqlitedb.Kind
	}{
		"busy": {func() error {
			tx, err := db.Begin()
			if err != nil {
				return err
			}
			defer func() { _ = tx.Rollback() }()
			_, err = db.Exec("INSERT INTO t VALUES(2,'y')")
			return err
		}, sqlitedb.Busy},
		"constraint": {func() error { _, err := db.Exec("INSERT INTO t VALUES(2,'x')"); return err }, sqlitedb.Constraint},
		"full": {func() error {
			_, err := db.Exec("PRAGMA max_page_count=3; CREATE TABLE big(a); INSERT INTO big VALUES(zeroblob(1000000))")
			return err
		}, sqlitedb.Full},
		"interrupted": {func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			_, err := db.ExecContext(ctx, "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c) SELECT count(*) FROM c")
			return err
		}, sqlitedb.Interrupted},
		"syntax":  {func() error { _, err := db.Exec("SELEC 1"); return err }, sqlitedb.Other},
		"foreign": {func() error { return errors.New("anything") }, sqlitedb.Other},
		"corrupt": {func() error {
			path := filepath.Join(t.TempDir(), "bad.db")
			if err := os.WriteFile(path, bytes.Repeat([]byte("not a database "), 1000), 0o600); err != nil {
				t.Fatal(err)
			}
			return open(t, path, sqlitedb.Options{}).Ping()
		}, sqlitedb.Corrupt},
		"denied": {func() error {
			return open(t, filepath.Join(t.TempDir(), "d.db"), sqlitedb.Options{Connected: func(c *sqlite3.Conn) error {
				if err := c.SetAuthorizer(func(sqlite3.AuthorizerActionCode, string, string, string, string) sqlite3.AuthorizerReturnCode {
					return sqlite3.AUTH_DENY
				}); err != nil {
					return err
				}
				return c.Exec("SELECT 1")
			}}).Ping()
		}, sqlitedb.Denied},
	}
	for name, c := range cases {
		if err := c.run(); err == nil || sqlitedb.KindOf(err) != c.want {
			t.Errorf("%s: got kind %d of %v, want %d", name, sqlitedb.KindOf(err), err, c.want)
		}
	}
}

func TestIsUnique(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "data.db"), sqlitedb.Options{})
	mustExec(t, db, "CREATE TABLE t(a TEXT PRIMARY KEY, b NOT NULL); INSERT INTO t VALUES('1',2)")
	if _, err := db.Exec("INSERT INTO t VALUES('1',3)"); !sqlitedb.IsUnique(err) {
		t.Errorf("a second row with the same key: got %v", err)
	}
	if _, err := db.Exec("INSERT INTO t VALUES('2',NULL)"); err == nil || sqlitedb.IsUnique(err) {
		t.Errorf("a missing value: got %v", err)
	}
}

func TestRecoverNoMemory(t *testing.T) {
	use := func() (err error) {
		defer sqlitedb.RecoverNoMemory(&err)
		c, err := sqlitedb.Connect(t.Context(), filepath.Join(t.TempDir(), "data.db"), sqlitedb.Options{MaxMemory: 8 << 20})
		if err != nil {
			return err
		}
		defer c.Close() //nolint:errcheck // the statement is what counts
		return c.Exec("SELECT zeroblob(100000000)")
	}
	if err := use(); sqlitedb.KindOf(err) != sqlitedb.NoMemory {
		t.Errorf("got %v", err)
	}
	defer func() {
		if v := recover(); v != "another" {
			t.Errorf("another panic: got %v", v)
		}
	}()
	func() (err error) {
		defer sqlitedb.RecoverNoMemory(&err)
		panic("another")
	}() //nolint:errcheck // it panics
}
