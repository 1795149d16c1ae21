package driver_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/driver"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

// TestArgumentsAreRepeatedInHeaders has a tool that names headers for two of its arguments, one of them inside another.
func TestArgumentsAreRepeatedInHeaders(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"bad":{"x-mcp-header":"no token"},` +
		`"deep":{"type":"object","properties":{"count":{"type":"integer","x-mcp-header":"Count"}}}}}`
	var got []http.Header
	s := open(t, func(w http.ResponseWriter, r *http.Request, message []byte) {
		m := wire.Parse(message, wire.Limits{})
		switch {
		case m.MethodIs("tools/list"):
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"read","inputSchema":%s,"annotations":{"readOnlyHint":true}}]}}`, m.ID(), schema)
			return
		case m.MethodIs("tools/call"):
			got = append(got, r.Header)
		}
		modern(w, r, message)
	})
	asked := func(arguments string) probe.Case {
		return probe.Case{Group: probe.GroupDomain, Name: probe.CaseNonexistent, Tool: "read", Method: "tools/call", Expect: probe.ExpectFailure,
			Params: []byte(`{"name":"read","arguments":` + arguments + `}`)}
	}
	driven(t, driver.Target{URL: s.URL}, patient(asked(`{"region":"éast","deep":{"count":42}}`), asked(`{"region":{"no":"text"}}`)))
	if len(got) != 2 {
		t.Fatalf("%d calls", len(got))
	}
	if h := got[0]; h.Get("Mcp-Param-Region") != "=?base64?w6lhc3Q=?=" || h.Get("Mcp-Param-Count") != "42" {
		t.Errorf("sent with %v", h)
	}
	if h := got[1]; h.Get("Mcp-Param-Region") != "" || h.Get("Mcp-Param-Count") != "" {
		t.Errorf("what is no text is sent with %v", h)
	}
}
