package harness_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/emits"
)

func startSQL(t testing.TB, url string, env ...string) *harness {
	t.Helper()
	return start(t, setup{flags: []string{"--domain", "sql"}, env: append(env, "MCP_SQL_URL="+url)})
}

func TestSQLReadsUnlessWritingIsAllowed(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "data.db")
	w := startSQL(t, url, "MCP_SQL_WRITE=1")
	w.call("sql/execute", `{"sql":"CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)"}`).result()
	w.call("sql/execute", `{"sql":"INSERT INTO t VALUES (?1, ?2)","params":[9007199254740993,"x'; DROP TABLE t; --"]}`).result()
	w.call("sql/query", `{"sql":"DELETE FROM t"}`).fails(2601, "sql/E_SQL_QUERY")
	r := startSQL(t, url)
	r.call("sql/execute", `{"sql":"DELETE FROM t"}`).fails(1006, "common/E_UNSUPPORTED")
	for _, text := range []string{"DELETE FROM t", "SELECT 1; DELETE FROM t", "ATTACH 'x' AS y", "PRAGMA query_only=0", "WITH x AS (SELECT 1) DELETE FROM t RETURNING *"} {
		r.call("sql/query", `{"sql":"`+text+`"}`).fails(2601, "sql/E_SQL_QUERY")
	}
	got := string(r.call("sql/query", `{"sql":"SELECT * FROM t"}`).result().Path("rows").Raw())
	if got != `[["9007199254740993","x'; DROP TABLE t; --"]]` {
		t.Errorf("rows: %s", got)
	}
	if got := string(r.call("sql/tables", `{}`).result().Path("rows").Raw()); !strings.Contains(got, `["t","table","a","INTEGER",0,1]`) {
		t.Errorf("tables: %s", got)
	}
	r.call("sql/query", `{"sql":"SELECT zeroblob(1000000000)"}`).fails(1002, "common/E_LIMIT_EXCEEDED")
	r.call("sql/query", `{"sql":"SELECT ?1","params":[{}]}`).fails(1000, "common/E_INVALID_PARAMS")
	slow := startSQL(t, url, "MCP_SQL_TIMEOUT_MS=100")
	slow.call("sql/query", `{"sql":"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c) SELECT count(*) FROM c"}`).fails(1001, "common/E_TIMEOUT")
}

func TestEveryCodeOfTheSQLDomainIsEmitted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := startSQL(t, "sqlite:"+filepath.Join(dir, "data.db"), "MCP_SQL_WRITE=1")
	h.call("sql/execute", `{"sql":"CREATE TABLE t (a)"}`).result()
	missing := startSQL(t, "sqlite:"+filepath.Join(dir, "missing.db"))
	emits.Check(t, "sql/E_SQL_CONN\nsql/E_SQL_QUERY", map[string]func(*testing.T) string{
		"sql/E_SQL_CONN": func(t *testing.T) string {
			reply := missing.call("sql/query", `{"sql":"SELECT 1"}`)
			if strings.Contains(string(reply.m.Bytes()), dir) {
				t.Errorf("an absolute path is shown: %s", reply.m.Bytes())
			}
			return reply.code()
		},
		"sql/E_SQL_QUERY": func(*testing.T) string { return h.call("sql/query", `{"sql":"SELEC 1"}`).code() },
	})
}
