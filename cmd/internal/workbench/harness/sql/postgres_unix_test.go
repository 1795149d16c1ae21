//go:build unix

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
	"github.com/candor-mcp/candor/cmd/internal/testing/pgtest"
	sqlcode "github.com/candor-mcp/candor/codes/sql"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

func connect(server *pgtest.Server, role, password string, write bool) *database {
	return &database{engine: &postgres{url: server.URL(role, password), timeout: time.Minute}, write: write, timeout: time.Minute, slots: make(chan struct{}, 4)}
}

// TestPostgres uses one server for all its parts, because starting one takes seconds.
func TestPostgres(t *testing.T) {
	server := pgtest.Start(t)
	owner := connect(server, "reader", "hunter2-reader", true)
	for _, text := range []string{
		"CREATE TABLE t (a bigint PRIMARY KEY, b text NOT NULL, c bytea)", "INSERT INTO t VALUES (1, 'ünï', '\\xff00'), (9007199254740993, 'big', NULL)",
		"CREATE SEQUENCE s",
	} {
		if _, err := owner.execute(t.Context(), queryIn{SQL: text}); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("values", func(t *testing.T) { testPostgresValues(t, owner) })
	t.Run("reads only", func(t *testing.T) { testPostgresReadsOnly(t, owner) })
	t.Run("limits", func(t *testing.T) { testPostgresLimits(t, server) })
	t.Run("connections", func(t *testing.T) { testPostgresConnections(t, server) })
	t.Run("superuser", func(t *testing.T) { testPostgresSuperuser(t, server) })
}

func testPostgresValues(t *testing.T, d *database) {
	out, err := d.query(t.Context(), queryIn{
		SQL:    "SELECT a, b, c, 1.5::float8 AS f, 'NaN'::float8 AS n, 1.10::numeric AS d, '{\"x\": 1}'::jsonb AS j, true AS t FROM t WHERE a > $1 AND b <> $2 ORDER BY a",
		Params: []param{{json.Number("0")}, {"x' OR 1=1"}}, Limit: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(out.Rows)
	if want := `[[1,"ünï",{"base64":"/wA="},1.5,"NaN","1.10",{"x":1},true]]`; err != nil || string(got) != want || !out.Truncated {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	if out, err := d.query(t.Context(), queryIn{SQL: "SELECT max(a) FROM t"}); err != nil || out.Rows[0][0] != "9007199254740993" {
		t.Errorf("big: %+v, %v", out, err)
	}
	if out, err := d.tables(t.Context(), tablesIn{}); err != nil || len(out.Rows) != 3 {
		t.Errorf("tables: %+v, %v", out, err)
	}
	out, err = d.execute(t.Context(), queryIn{SQL: "UPDATE t SET b = b RETURNING a", Limit: 1})
	if err != nil || *out.Affected != 2 || len(out.Rows) != 1 {
		t.Errorf("update: %+v, %v", out, err)
	}
	_, err = d.query(t.Context(), queryIn{SQL: "SELECT 'ü', FROM t"})
	e, _ := errors.AsType[*candor.Error](err)
	if e == nil || !strings.Contains(e.Details().String(), `"position":13`) || !strings.Contains(e.Details().String(), `"sqlstate":"42601"`) {
		t.Errorf("position: %v", err)
	}
}

func testPostgresReadsOnly(t *testing.T, d *database) {
	for _, text := range []string{
		"INSERT INTO t VALUES (3, 'x')", "DELETE FROM t", "DROP TABLE t", "CREATE TABLE u (a int)", "TRUNCATE t", "SELECT nextval('s')",
		"WITH x AS (DELETE FROM t RETURNING a) SELECT * FROM x", "SELECT 1; DELETE FROM t", "COMMIT; DELETE FROM t", "SELECT 1 /* ; */ ; -- x\n DELETE FROM t",
		"DO $$ BEGIN DELETE FROM t; END $$", "DO $$ BEGIN COMMIT; DELETE FROM t; END $$", "DO $$ BEGIN SET TRANSACTION READ WRITE; DELETE FROM t; END $$",
		"EXPLAIN ANALYZE DELETE FROM t", "COPY t TO PROGRAM 'cat'", "COPY t TO '/dev/null'", "COPY t FROM PROGRAM 'id'", "SELECT pg_read_file('/etc/passwd')",
		"SELECT lo_import('/etc/passwd')", "SELECT lo_export(1, '/dev/null')", "SELECT pg_ls_dir('/')", "SELECT * FROM t FOR UPDATE",
		"ALTER SYSTEM SET work_mem = '1GB'", "VACUUM", "LISTEN x; DELETE FROM t", "SELECT * FROM missing", "COMMIT", "ROLLBACK",
	} {
		if _, err := d.query(t.Context(), queryIn{SQL: text}); codeOf(err) != "E_SQL_QUERY" {
			t.Errorf("%s: got %v", text, err)
		}
	}
	// These succeed, and must not affect the next call.
	for _, text := range []string{
		"SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE", "SET default_transaction_read_only = off",
		"SELECT set_config('statement_timeout', '0', false)", "SELECT pg_advisory_lock(1)",
	} {
		if _, err := d.query(t.Context(), queryIn{SQL: text}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := d.query(t.Context(), queryIn{SQL: "DELETE FROM t"}); codeOf(err) != "E_SQL_QUERY" {
			t.Errorf("after %s: %v", text, err)
		}
	}
	if out, err := d.query(t.Context(), queryIn{SQL: "SELECT count(*) FROM t"}); err != nil || out.Rows[0][0] != int64(2) {
		t.Errorf("rows: %+v, %v", out, err)
	}
}

// testPostgresLimits also checks that the server has really stopped the statement.
func testPostgresLimits(t *testing.T, server *pgtest.Server) {
	d := connect(server, "reader", "hunter2-reader", false)
	out, err := d.query(t.Context(), queryIn{SQL: "SELECT generate_series(1, 1000000000000)"})
	if err != nil || len(out.Rows) != defaultRows || !out.Truncated {
		t.Errorf("many rows: %v", err)
	}
	if out, err := d.query(t.Context(), queryIn{SQL: "SELECT repeat('x', 100000) FROM generate_series(1, 1000)", Limit: 1000}); err != nil || len(out.Rows) != 10 || !out.Truncated {
		t.Errorf("large rows: %v", err)
	}
	if _, err := d.query(t.Context(), queryIn{SQL: "SELECT repeat('x', 2000000)"}); codeOf(err) != "E_LIMIT_EXCEEDED" {
		t.Errorf("large value: %v", err)
	}
	quick := connect(server, "reader", "hunter2-reader", false)
	quick.timeout = 300 * time.Millisecond
	for _, text := range []string{"SELECT pg_sleep(3600)", "SELECT count(*) FROM generate_series(1, 1000000000000)"} {
		if _, err := quick.query(t.Context(), queryIn{SQL: text}); codeOf(err) != "E_TIMEOUT" {
			t.Errorf("%s: %v", text, err)
		}
	}
	// Only the timeout of the server is short here.
	quick = connect(server, "reader", "hunter2-reader", false)
	quick.engine = &postgres{url: server.URL("reader", "hunter2-reader"), timeout: 300 * time.Millisecond}
	if _, err := quick.query(t.Context(), queryIn{SQL: "SELECT pg_sleep(3600)"}); codeOf(err) != "E_TIMEOUT" {
		t.Errorf("statement_timeout: %v", err)
	}
	const busy = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() AND usename = 'reader'"
	wait.Until(t, "the end of the statements", func() bool {
		out, err := d.query(t.Context(), queryIn{SQL: busy})
		return err == nil && out.Rows[0][0] == int64(0)
	})
}

func testPostgresConnections(t *testing.T, server *pgtest.Server) {
	nowhere := *server
	nowhere.Socket = filepath.Join(t.TempDir(), "none")
	for name, d := range map[string]*database{
		"wrong password": connect(server, "reader", "hunter2-wrong", false), "unknown role": connect(server, "nix", "hunter2-nix", false),
		"no server": connect(&nowhere, "reader", "hunter2-reader", false),
	} {
		_, err := d.query(t.Context(), queryIn{SQL: "SELECT 1"})
		e, _ := errors.AsType[*candor.Error](err)
		if e == nil || e.Code() != sqlcode.Conn {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, jsonErr := json.Marshal(e)
		if jsonErr != nil || strings.Contains(string(text)+err.Error(), "hunter2") {
			t.Errorf("%s shows the password: %s %v", name, text, jsonErr)
		}
		if retryable := e.Retry() != candor.NoRetry(); retryable != (name == "no server") {
			t.Errorf("%s: retry %v", name, e.Retry())
		}
	}
}

// testPostgresSuperuser shows why such roles are refused: a READ ONLY transaction lets them run programs.
func testPostgresSuperuser(t *testing.T, server *pgtest.Server) {
	d := connect(server, "admin", "", false)
	proof := filepath.Join(server.Socket, "proof")
	// cat reads the row; a program that ends before would fail the query with a broken pipe.
	attack := queryIn{SQL: "DO $$ BEGIN COPY (SELECT 1) TO PROGRAM 'cat > " + proof + "'; END $$"}
	if _, err := d.query(t.Context(), attack); codeOf(err) != "E_SQL_CONN" {
		t.Errorf("superuser: %v", err)
	}
	if _, err := os.Stat(proof); err == nil {
		t.Error("a program was run")
	}
	d.engine = &postgres{url: server.URL("admin", ""), timeout: time.Minute, allowSuperuser: true}
	if _, err := d.query(t.Context(), attack); err != nil {
		t.Errorf("allowed superuser: %v", err)
	}
	if _, err := os.Stat(proof); err != nil {
		t.Errorf("the attack of this test does not work, so it proves nothing: %v", err)
	}
}
