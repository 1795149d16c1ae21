package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/console"
	"github.com/candor-mcp/candor/internal/testing/wait"
)

// verified starts a verification and returns the page with its result.
func (s *site) verified() string {
	s.t.Helper()
	if res, _ := s.request("POST", "/verify", "", nil); res.StatusCode != http.StatusSeeOther {
		s.t.Fatalf("POST /verify: status %d", res.StatusCode)
	}
	var body string
	wait.Until(s.t, "the end of the verification", func() bool {
		body = s.get("/verify")
		return !strings.Contains(body, `data-state="running"`)
	})
	return body
}

func TestVerificationNamesDamage(t *testing.T) {
	s := open(t, console.Options{})
	s.add(failed{server: "shop", tool: "search", said: "no such order"})
	s.add(failed{server: "shop", tool: "search", said: "no such customer"})
	contains(t, s.get("/verify"), `data-state="notVerified"`, ">Verify now<")
	if err := s.ledger.Close(); err != nil {
		t.Fatal(err)
	}
	contains(t, s.verified(), `data-state="ok"`, "Every entry is as it was written", `id="n-damage">0<`, "✓ whole", "keys in its own folder")
	contains(t, s.get("/"), "Record whole")

	s.tamper("no such customer", "no such CUSTOMER")
	contains(t, s.verified(), `data-state="damaged"`, "bad-hash", "the entry was changed", `id="n-damage">1<`, "✗ bad-hash")
	contains(t, s.get("/"), "Record damaged")
	s.serve(console.Options{})
	contains(t, s.get("/"), `id="skipped"`, "1 line of the ledger is not an entry and is not counted", `id="n-failures">1<`)
}
