package harness_test

import (
	"fmt"
	"testing"
)

// TestEverySpellingOfAWholeNumberIsAccepted sends numbers that a schema accepts as integers.
func TestEverySpellingOfAWholeNumberIsAccepted(t *testing.T) {
	t.Parallel()
	for _, mcp := range []bool{false, true} {
		h := start(t, setup{mcp: mcp, flags: []string{"--domain", "kg", "--domain", "memory-bank", "--domain", "filesystem", "--domain", "sql"}, env: []string{"MCP_SQL_WRITE=1"}})
		h.call("sql/execute", `{"sql":"CREATE TABLE t (a)"}`).result()
		for _, number := range []string{"100", "1e2", "1E2", "100.0", "1000e-1"} {
			h.call("kg/query", fmt.Sprintf(`{"limit":%s}`, number)).result()
			h.call("mb/list", fmt.Sprintf(`{"limit":%s}`, number)).result()
			h.call("mb/search", fmt.Sprintf(`{"q":"x","limit":%s}`, number)).result()
			h.call("fs/list", fmt.Sprintf(`{"path":".","limit":%s}`, number)).result()
			got := string(h.call("sql/query", fmt.Sprintf(`{"sql":"SELECT typeof(?1)","params":[1.0],"limit":%s}`, number)).result().Path("rows").Raw())
			if got != `[["real"]]` {
				t.Errorf("limit %s: %s", number, got)
			}
		}
		for _, number := range []string{"1e99", "1.5", "0", `"100"`} {
			h.call("kg/query", fmt.Sprintf(`{"limit":%s}`, number)).fails(1000, "common/E_INVALID_PARAMS")
		}
	}
}
