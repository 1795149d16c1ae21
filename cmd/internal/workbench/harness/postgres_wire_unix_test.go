//go:build unix

package harness_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/pgtest"
	"github.com/candor-mcp/candor/wire"
)

// TestPostgreSQL uses one server for all subtests, because starting one takes longer than most of them.
func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	for name, test := range map[string]func(*testing.T, *pgtest.Server){
		"ReadsAndWrites":                  sqlOnPostgreSQL,
		"ParametersMustMatch":             postgreSQLParametersMustMatch,
		"RefusesCommandsThatLeaveTheCall": postgreSQLRefusesCommandsThatLeaveTheCall,
		"CallsThatOnlyWaited":             postgreSQLCallsThatOnlyWaited,
	} {
		t.Run(name, func(t *testing.T) { test(t, server) })
	}
}

func sqlOnPostgreSQL(t *testing.T, server *pgtest.Server) {
	t.Helper()
	w := startSQL(t, server.URL("reader", "hunter2-reader"), "MCP_SQL_WRITE=1")
	w.call("sql/execute", `{"sql":"CREATE TABLE t (a bigint, b text)"}`).result()
	w.call("sql/execute", `{"sql":"INSERT INTO t VALUES ($1, $2)","params":[1,"ü'; DROP TABLE t; --"]}`).result()
	r := startSQL(t, server.URL("reader", "hunter2-reader"), "MCP_SQL_TIMEOUT_MS=5000")
	for _, text := range []string{"DELETE FROM t", "SELECT 1; DELETE FROM t", "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", "SELEC 1"} {
		if reply := r.call("sql/query", `{"sql":"`+text+`"}`).fails(2601, "sql/E_SQL_QUERY"); !strings.Contains(reply.details(), "sqlstate") {
			t.Errorf("details: %s", reply.details())
		}
	}
	if got := string(r.call("sql/query", `{"sql":"SELECT * FROM t"}`).result().Path("rows").Raw()); got != `[[1,"ü'; DROP TABLE t; --"]]` {
		t.Errorf("rows: %s", got)
	}
	r.call("sql/query", `{"sql":"SELECT pg_sleep(3600)"}`).fails(1001, "common/E_TIMEOUT")
	for _, url := range []string{server.URL("reader", "hunter2-wrong"), server.URL("admin", ""), "postgres://u:hunter2-x@127.0.0.1:1/d"} {
		h := startSQL(t, url)
		reply := h.call("sql/query", `{"sql":"SELECT 1"}`).fails(2600, "sql/E_SQL_CONN")
		if strings.Contains(string(reply.m.Bytes())+h.said.String(), "hunter2") {
			t.Errorf("the password is shown: %s", reply.m.Bytes())
		}
	}
}

func postgreSQLParametersMustMatch(t *testing.T, server *pgtest.Server) {
	t.Helper()
	h := startSQL(t, server.URL("reader", "hunter2-reader"), "MCP_SQL_WRITE=1")
	for _, params := range []string{
		`{"sql":"SELECT $1::int"}`, `{"sql":"SELECT 1","params":[1]}`, `{"sql":"SELECT $2::int + $1::int","params":[1]}`, `{"sql":"SELECT $1::int","params":[1,2]}`,
	} {
		for _, method := range []string{"sql/query", "sql/execute"} {
			h.call(method, params).fails(1000, "common/E_INVALID_PARAMS")
		}
	}
	if got := string(h.call("sql/query", `{"sql":"SELECT $2::int - $1::int","params":[1,3]}`).result().Path("rows").Raw()); got != "[[2]]" {
		t.Errorf("rows: %s", got)
	}
}

// postgreSQLRefusesCommandsThatLeaveTheCall sends statements that end the transaction of the call, or that move data
// outside of its result: COPY FROM STDIN waited for data until the time limit, and COPY TO STDOUT succeeded without
// rows.
func postgreSQLRefusesCommandsThatLeaveTheCall(t *testing.T, server *pgtest.Server) {
	t.Helper()
	h := startSQL(t, server.URL("reader", "hunter2-reader"), "MCP_SQL_WRITE=1")
	h.call("sql/execute", `{"sql":"CREATE TABLE copy (a bigint)"}`).result()
	for _, text := range []string{
		"copy copy from stdin", "COPY copy TO STDOUT", "copy (select 1) to stdout", ` ;;\t/* a /* b */ c */ -- d\n COPY copy FROM STDIN`, "COMMIT", "commit and chain",
		"END", "ROLLBACK", "rollback and chain", "ABORT", "BEGIN", "START TRANSACTION", "SAVEPOINT s", "RELEASE s", "PREPARE TRANSACTION 'x'", "COMMIT PREPARED 'x'",
	} {
		for _, method := range []string{"sql/query", "sql/execute"} {
			reply := h.call(method, `{"sql":"`+text+`"}`).fails(2601, "sql/E_SQL_QUERY")
			if !strings.Contains(reply.details(), "not allowed here") {
				t.Errorf("%s: %s", text, reply.details())
			}
		}
	}
	// Statements that only look similar.
	for _, text := range []string{"SELECT count(*) AS commit FROM copy", "PREPARE transactions AS SELECT 1", "/* COPY */ SELECT 1"} {
		h.call("sql/execute", `{"sql":"`+text+`"}`).result()
	}
}

// postgreSQLCallsThatOnlyWaited uses every connection, so that further calls time out before their statements begin.
func postgreSQLCallsThatOnlyWaited(t *testing.T, server *pgtest.Server) {
	t.Helper()
	h := startSQL(t, server.URL("reader", "hunter2-reader"), "MCP_SQL_TIMEOUT_MS=1500")
	const calls = 24
	for i := range calls {
		h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"sql/query","params":{"sql":"SELECT pg_sleep(3600)"}}`, 1000+i))
	}
	waited := 0
	for range calls {
		r := reply{t, wire.Parse(h.line(), wire.Limits{})}
		if strings.Contains(r.fails(1001, "common/E_TIMEOUT").details(), "the statement was not run") {
			waited++
		}
	}
	if waited == 0 || waited == calls {
		t.Errorf("%d of %d calls say that they only waited", waited, calls)
	}
}
