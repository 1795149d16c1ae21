//go:build unix

package harness_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/pgtest"
)

func TestSQLOnPostgreSQL(t *testing.T) {
	server := pgtest.Start(t)
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
