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
