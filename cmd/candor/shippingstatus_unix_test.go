//go:build unix

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/testing/wait"
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
		want := regexp.MustCompile(`as node n, ack=local: [1-9]\d* entr(y|ies), 0 wait`) // after a second there is a second entry
		if away {
			want = regexp.MustCompile(`as node n, ack=local(.|\n)*the store cannot be reached`)
		}
		wait.Until(t, want.String(), func() bool { return want.MatchString(printed(t, "gateway", "status", "--admin", admin)) })
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.admin+"/metrics", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if page, err := fetch(req); err != nil || !strings.Contains(page, "candor_ledger_waiting_entries ") || !strings.Contains(page, "candor_ledger_unshippable_chains 0") {
			t.Errorf("metrics: %v, %s", err, page)
		}
		if checked := printed(t, "gateway", "check", "--config", g.config); !strings.Contains(checked, ", shipped to ") || !strings.Contains(checked, filepath.Join(r.home, "trail")) {
			t.Errorf("check: %s", checked)
		}
	}
}
