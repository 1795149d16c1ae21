package harness_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/wire"
)

// hungry sorts 300 MB in memory.
const hungry = `{"sql":"WITH RECURSIVE c(x,b) AS (SELECT 1, zeroblob(1000000) UNION ALL SELECT x+1, zeroblob(1000000) FROM c LIMIT 300) SELECT x FROM c ORDER BY b||x"}`

// TestSQLiteMemoryIsBounded runs statements that use as much memory as possible. The library panics when it gets no
// more.
func TestSQLiteMemoryIsBounded(t *testing.T) {
	t.Parallel()
	h := startSQL(t, "sqlite:"+filepath.Join(t.TempDir(), "data.db"), "MCP_SQL_WRITE=1", "MCP_SQL_TIMEOUT_MS=60000")
	h.call("sql/execute", `{"sql":"CREATE TABLE t (a)"}`).result()
	for _, method := range []string{"sql/query", "sql/execute"} {
		r := h.call(method, hungry).fails(1002, "common/E_LIMIT_EXCEEDED")
		if !strings.Contains(r.details(), "memory") {
			t.Errorf("details: %s", r.details())
		}
	}
	h.call("sql/execute", `{"sql":"INSERT INTO t SELECT zeroblob(1000000) FROM (SELECT 1 UNION SELECT 2) ORDER BY random()"}`).result()
	const calls = 6 // more than the connections
	for i := range calls {
		h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"sql/query","params":%s}`, 1000+i, hungry))
	}
	for range calls {
		reply{t, wire.Parse(h.line(), wire.Limits{})}.fails(1002, "common/E_LIMIT_EXCEEDED")
	}
	if got := peakMemory(t, h.cmd.Process.Pid); got > 900<<20 {
		t.Errorf("the process used %d MiB", got>>20)
	}
	if got := string(h.call("sql/query", `{"sql":"SELECT count(*) FROM t"}`).result().Path("rows").Raw()); got != "[[2]]" {
		t.Errorf("rows: %s", got)
	}
}

// peakMemory returns the peak memory of a process in bytes.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	text, _, _ := strings.Cut(rest, "kB")
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		t.Fatalf("VmHWM: %v", err)
	}
	return n << 10
}
