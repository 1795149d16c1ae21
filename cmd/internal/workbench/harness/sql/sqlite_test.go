package sql

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/cmd/internal/workbench/harness/domain"
)

// file returns the path of a database with a small table.
func file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.db")
	d := &database{engine: &sqlite{path: path, create: true}, write: true, timeout: time.Minute, slots: make(chan struct{}, 1)}
	for _, text := range []string{"CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT NOT NULL, c BLOB)", "INSERT INTO t VALUES (1, 'ünï', x'ff00'), (9007199254740993, 'big', NULL)"} {
		if _, err := d.execute(t.Context(), queryIn{SQL: text}); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func reader(path string) *database {
	return &database{engine: &sqlite{path: path}, timeout: time.Minute, slots: make(chan struct{}, 1)}
}

// codeOf returns the symbol of an error, "" for nil.
func codeOf(err error) string {
	if e, ok := errors.AsType[*candor.Error](err); ok {
		return e.Code().Symbol()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestSQLiteValues(t *testing.T) {
	d := reader(file(t))
	out, err := d.query(t.Context(), queryIn{SQL: "SELECT a, b, c, 1.5 AS f FROM t WHERE b <> ?1 ORDER BY a", Params: []param{{"x' OR 1=1"}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(out)
	want := `{"columns":[{"name":"a","type":"integer"},{"name":"b","type":"text"},{"name":"c","type":"blob"},{"name":"f"}],` +
		`"rows":[[1,"ünï",{"base64":"/wA="},1.5],["9007199254740993","big",null,1.5]],"truncated":false}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	if out, err := d.tables(t.Context(), tablesIn{}); err != nil || len(out.Rows) != 3 {
		t.Errorf("tables: %+v, %v", out, err)
	}
}

// TestSQLiteReadsOnly tries to change the file, to open another one and to lift the restrictions.
func TestSQLiteReadsOnly(t *testing.T) {
	path := file(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := reader(path)
	other := filepath.Join(t.TempDir(), "other.db")
	for _, text := range []string{
		"INSERT INTO t VALUES (3, 'x', NULL)", "UPDATE t SET b = 'x'", "DELETE FROM t", "DROP TABLE t", "CREATE TABLE u (a)", "CREATE TEMP TABLE u (a)",
		"WITH x AS (SELECT 1) INSERT INTO t SELECT 3, 'x', NULL FROM x", "WITH x AS (SELECT 1) DELETE FROM t RETURNING *",
		"ATTACH '" + other + "' AS o", "DETACH main", "VACUUM", "VACUUM INTO '" + other + "'", "BEGIN IMMEDIATE", "SAVEPOINT s", "ANALYZE",
		"PRAGMA query_only=OFF", "PRAGMA journal_mode=DELETE", "PRAGMA writable_schema=ON", "PRAGMA database_list", "SELECT * FROM pragma_database_list",
		"SELECT load_extension('x')", "SELECT 1; DELETE FROM t", "SELECT 1; SELECT 2", "SELECT 1 /* ; */ ; -- x\n DELETE FROM t",
		"CREATE VIRTUAL TABLE v USING fts5(a)", "EXPLAIN DELETE FROM t", "", " -- nothing", "SELEC 1", "SELECT * FROM missing",
	} {
		if _, err := d.query(t.Context(), queryIn{SQL: text}); codeOf(err) != "E_SQL_QUERY" {
			t.Errorf("%s: got %v", text, err)
		}
	}
	if _, err := d.execute(t.Context(), queryIn{SQL: "DELETE FROM t"}); codeOf(err) != "E_UNSUPPORTED" {
		t.Errorf("execute: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file was changed: %v", err)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("another file was created")
	}
	for _, text := range []string{"SELECT 1 -- ;", "SELECT ';' ;  ", "PRAGMA table_info(t)", "EXPLAIN QUERY PLAN SELECT * FROM t", "VALUES (1)"} {
		if _, err := d.query(t.Context(), queryIn{SQL: text}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestSQLiteWriteIsRestrictedToo(t *testing.T) {
	path := file(t)
	d := reader(path)
	d.write = true
	for _, text := range []string{
		"ATTACH 'x' AS o", "PRAGMA journal_mode=DELETE", "VACUUM INTO 'x'", "BEGIN", "DELETE FROM t; DELETE FROM t", "INSERT INTO t VALUES (1, 'x', NULL)",
	} {
		if _, err := d.execute(t.Context(), queryIn{SQL: text}); codeOf(err) != "E_SQL_QUERY" {
			t.Errorf("%s: %v", text, err)
		}
	}
	out, err := d.execute(t.Context(), queryIn{SQL: "UPDATE t SET b = ?1 RETURNING a", Params: []param{{"n"}}, Limit: 1})
	if err != nil || *out.Affected != 2 || len(out.Rows) != 1 || !out.Truncated {
		t.Errorf("update: %+v, %v", out, err)
	}
	if out, err := d.query(t.Context(), queryIn{SQL: "SELECT count(*) FROM t WHERE b = 'n'"}); err != nil || out.Rows[0][0] != int64(2) {
		t.Errorf("all rows are changed, though not all are shown: %+v, %v", out, err)
	}
}

func TestSQLiteLimits(t *testing.T) {
	d := reader(file(t))
	const endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c) SELECT "
	for text, want := range map[string]string{
		"SELECT zeroblob(1000000000)":            "E_LIMIT_EXCEEDED",
		"SELECT zeroblob(2000000)":               "E_LIMIT_EXCEEDED",
		"SELECT '" + strings.Repeat("x", 100000): "E_INPUT_TOO_LARGE",
		"SELECT ?1":                              "E_INVALID_PARAMS",
	} {
		if _, err := d.query(t.Context(), queryIn{SQL: text}); codeOf(err) != want {
			t.Errorf("%.40s: got %v, want %s", text, err, want)
		}
	}
	if out, err := d.query(t.Context(), queryIn{SQL: endless + "n FROM c"}); err != nil || len(out.Rows) != defaultRows || !out.Truncated {
		t.Errorf("endless rows: %v", err)
	}
	out, err := d.query(t.Context(), queryIn{SQL: endless + "printf('%0100000d', n) FROM c", Limit: maxRows})
	if err != nil || len(out.Rows) != 10 || !out.Truncated {
		t.Errorf("large rows: %v", err)
	}
	d.timeout = 50 * time.Millisecond
	if _, err := d.query(t.Context(), queryIn{SQL: endless + "count(*) FROM c"}); codeOf(err) != "E_TIMEOUT" {
		t.Errorf("endless statement: %v", err)
	}
}

func TestSQLiteFilesThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte(strings.Repeat("not a database", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"missing": "E_SQL_CONN", "text": "DATA_CORRUPT", ".": "E_SQL_CONN"} {
		if _, err := reader(filepath.Join(dir, name)).query(t.Context(), queryIn{SQL: "SELECT * FROM sqlite_schema"}); codeOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "missing")); err == nil {
		t.Error("the missing file was created")
	}
}

func TestOpenHidesPasswords(t *testing.T) {
	for value, ok := range map[string]bool{
		"": true, "sqlite:/data/x.db": true, "postgres://u:hunter2@h/d": true, "postgresql:///d": true,
		"sqlite:x.db": false, "mysql://u:hunter2@h/d": false, "postgres://u:hunter2@h:port/d": false,
	} {
		_, err := Open(domain.Environment{Getenv: func(name string) string { return map[string]string{"MCP_SQL_URL": value}[name] }, State: t.TempDir()})
		if (err == nil) != ok || err != nil && (strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "MCP_SQL_URL")) {
			t.Errorf("%q: %v", value, err)
		}
	}
}
