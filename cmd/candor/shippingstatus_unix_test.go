//go:build unix

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGatewayShowsHowFarItsLedgerIsShipped ships the ledger of a gateway to a store that its configuration names, and one that is away.
func TestGatewayShowsHowFarItsLedgerIsShipped(t *testing.T) {
	t.Parallel()
	for _, away := range []bool{false, true} {
		r := newFleetRig(t)
		if away {
			if err := os.WriteFile(r.store, []byte("not a folder"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		text := strings.Replace(configText(newLooseServer(t).URL, ""), "drain: 20s\n", "drain: 20s\nledger: "+r.url("")+"\n", 1)
		g := newGate(t, text)
		admin := strings.TrimPrefix(g.admin, "http://")
		want := ": 1 entry, 0 wait"
		if away {
			want = "the store cannot be reached"
		}
		status := printed(t, "gateway", "status", "--admin", admin)
		for end := time.Now().Add(20 * time.Second); !strings.Contains(status, want) && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			status = printed(t, "gateway", "status", "--admin", admin)
		}
		if !strings.Contains(status, want) || !strings.Contains(status, "as node n, ack=local") {
			t.Errorf("%q is not in %s", want, status)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.admin+"/metrics", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if page, err := fetch(req); err != nil || !strings.Contains(page, "candor_ledger_waiting_entries ") || !strings.Contains(page, "candor_ledger_unshippable_chains 0") {
			t.Errorf("metrics: %v, %s", err, page)
		}
		if checked := printed(t, "gateway", "check", "--config", g.config); !strings.Contains(checked, "shipped to") || !strings.Contains(checked, filepath.Join(r.home, "trail")) {
			t.Errorf("check: %s", checked)
		}
	}
}
