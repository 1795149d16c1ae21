package drive_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/cmd/internal/probe/drive"
	"github.com/candor-mcp/candor/wire"
)

// TestHeaderNamesAreEncoded: what a header would lose, or what looks encoded already, is encoded.
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
