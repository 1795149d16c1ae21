package drive_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/cmd/internal/probe/drive"
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
	driven(t, drive.Target{URL: s.URL}, quick(asked(`{"region":"éast","deep":{"count":42}}`), asked(`{"region":{"no":"text"}}`)))
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

// TestHeaderNamesAreEncoded checks that values that a header would change, or that look encoded already, are encoded.
func TestHeaderNamesAreEncoded(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"plain name": "plain name", " padded": "=?base64?IHBhZGRlZA==?=", "=?base64?x?=": "=?base64?PT9iYXNlNjQ/eD89?=", "é": "=?base64?w6k=?="} {
		got := ""
		s := open(t, func(w http.ResponseWriter, r *http.Request, message []byte) {
			if m := wire.Parse(message, wire.Limits{}); m.MethodIs("tools/call") {
				got = r.Header.Get("Mcp-Name")
			}
			modern(w, r, message)
		})
		driven(t, drive.Target{URL: s.URL}, quick(call(probe.CaseMissingRequired, name, probe.ExpectRefusal)))
		if !strings.EqualFold(got, want) {
			t.Errorf("%q is sent as %q, want %q", name, got, want)
		}
	}
}
