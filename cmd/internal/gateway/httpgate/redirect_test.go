package httpgate_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/gateway"
	"github.com/candor-mcp/candor/cmd/internal/gateway/httpgate"
	"github.com/candor-mcp/candor/cmd/internal/testing/httpgatetest"
)

func TestRedirectNamesItsTargetAndIsNotRetryable(t *testing.T) {
	for _, row := range []struct{ location, shown string }{
		{"https://new.example/mcp/", "https://new.example/mcp/"},
		{"/mcp/", "/mcp/"},
		{"//new.example/x", "http://new.example/x"},
		{"https://user:hunter2@new.example/mcp?token=hunter2#hunter2", "https://new.example/mcp"},
		{"https://new.example/" + strings.Repeat("a", 1000), "https://new.example/…"},
		{"javascript:alert(1)", ""}, {"", ""}, {"http://[", ""}, {"https://new.example\u202e/", ""},
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			for _, mode := range []gateway.Mode{gateway.ModeAnnotate, gateway.ModeStrict} {
				g := httpgatetest.NewGate(t, httpgatetest.Says(status, "text/html", "moved", "Location", row.location), gateway.Options{Mode: mode, Retry: gateway.RetryPolicy{Attempts: 3}}, httpgate.Options{})
				got := g.Post(t, httpgatetest.ToolCall)
				m := got.Terminal(t, "7")
				text := string(got.Body)
				if httpgatetest.CodeOf(m) != "UPSTREAM_BAD_RESPONSE" || strings.Contains(text, "same call again") || strings.Contains(text, "afterMs\":1000") || strings.Contains(text, "hunter2") {
					t.Errorf("%d %s: %s", status, row.location, text)
				}
				shown, _ := m.Result().Path("_meta", "dev.candor/error", "details", "location").Str()
				switch {
				case mode == gateway.ModeStrict && strings.Contains(text, "new.example"):
					t.Errorf("%d %s in strict: %s", status, row.location, text)
				case mode != gateway.ModeStrict && (!strings.HasSuffix(shown, row.shown) || row.shown == "" && shown != ""):
					t.Errorf("%d %s: shown as %q", status, row.location, shown)
				case mode != gateway.ModeStrict && (!strings.Contains(text, "configured for this server") || status == 303 != strings.Contains(text, "took effect")):
					t.Errorf("%d %s: no next step in %s", status, row.location, text)
				}
				g.CheckTotals(t, 1)
			}
		}
	}
}
