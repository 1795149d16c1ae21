package serve_test

import (
	"strings"
	"testing"
)

// TestSuspectedFailuresAreRecorded calls a tool that reports a failure as a success. The answer is sent unchanged, and the ledger has
// a suspected failure; an ordinary success adds no entry.
func TestSuspectedFailuresAreRecorded(t *testing.T) {
	t.Parallel()
	p := stdio(t, t.TempDir(), "MCP_ERROR_METRICS=1")
	m := p.ask("tools/call", call("masks"))
	fine := p.ask("tools/call", call("fine"))
	counts := p.ask("sys/errorStats", "{}")
	p.stop()
	if failed, _ := m.Result().Path("isError").Bool(); failed || !strings.Contains(string(m.Bytes()), "connection refused") || m.Result().Path("_meta").Present() {
		t.Errorf("the answer was changed: %s", m.Bytes())
	}
	if !strings.Contains(string(fine.Bytes()), "fine") {
		t.Errorf("got %s", fine.Bytes())
	}
	entry := failureData(t, ledgerOf(p.home))
	for _, part := range []string{`"outcome":"suspected"`, `"verdict":"masked"`, `"tool":"masks"`} {
		if !strings.Contains(entry, part) {
			t.Errorf("%s is not in %s", part, entry)
		}
	}
	if got := statsOf(t, counts.Result().Raw()); got.Total != 1 {
		t.Errorf("counted %s", counts.Bytes())
	}
	verified(t, ledgerOf(p.home))
}
