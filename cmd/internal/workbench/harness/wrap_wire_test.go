package harness_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/wire"
)

// TestWrapSupervisesTheHarness runs the harness behind candor wrap and checks that the client gets the same lines, and
// that wrap records the failures.
func TestWrapSupervisesTheHarness(t *testing.T) {
	t.Parallel()
	for _, mcp := range []bool{false, true} {
		trail := filepath.Join(t.TempDir(), "ledger")
		h := start(t, setup{mcp: mcp, wrap: []string{"--ledger", trail}, env: []string{"MCP_RATE_LIMIT=1", "MCP_RATE_LIMIT_CAPACITY=2"}})
		if !mcp && len(h.methods()) < 4 {
			t.Errorf("the ready line: %s", h.ready.Raw())
		}
		h.call("sys/ping", `{}`).result()
		first := h.call("sys/ping", `{"x":1}`).fails(1000, "common/E_INVALID_PARAMS")
		if !strings.Contains(first.details(), "is not a known key") {
			t.Errorf("details: %s", first.m.Bytes())
		}
		if !mcp {
			h.call("no/such", `{}`).fails(-32601, "candor/METHOD_NOT_FOUND")
			h.send("nonsense")
			if v, err := wire.ParseValue(h.line(), wire.Limits{}); err != nil || !strings.HasPrefix(string(v.Path("error", "code").Raw()), "-32700") {
				t.Errorf("%s", v.Raw())
			}
		}
		if code := h.end(); code != 0 {
			t.Errorf("exit code %d: %s", code, &h.said)
		}
		if n := len(recorded(t, trail)); n == 0 {
			t.Errorf("wrap recorded nothing: %s", &h.said)
		}
		if strings.Contains(h.said.String(), "no message") {
			t.Errorf("wrap complains: %s", &h.said)
		}
	}
}
