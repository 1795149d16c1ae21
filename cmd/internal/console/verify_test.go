package console_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/console"
)

// verified starts a verification and returns the page with its result.
func (s *site) verified() string {
	s.t.Helper()
	if res, _ := s.request("POST", "/verify", "", nil); res.StatusCode != http.StatusSeeOther {
		s.t.Fatalf("POST /verify: status %d", res.StatusCode)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		body := s.get("/verify")
		if !strings.Contains(body, `data-state="running"`) {
			return body
		}
		if time.Now().After(deadline) {
			s.t.Fatal("the verification does not end")
		}
	}
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

	files, err := filepath.Glob(filepath.Join(s.dir, "*", "audit-log.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d segments, %v", len(files), err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], bytes.Replace(raw, []byte("no such customer"), []byte("no such CUSTOMER"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	contains(t, s.verified(), `data-state="damaged"`, "bad-hash", "the entry was changed", `id="n-damage">1<`, "✗ bad-hash")
	contains(t, s.get("/"), "Record damaged")
	s.serve(console.Options{})
	contains(t, s.get("/"), `id="skipped"`, "1 line of the ledger is not an entry and is not counted", `id="n-failures">1<`)
}
