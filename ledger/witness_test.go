package ledger_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/candor-mcp/candor/internal/segment/format"
	"github.com/candor-mcp/candor/ledger"
	"github.com/candor-mcp/candor/ledger/verify"
)

// openSmall opens a ledger that rewrites its witness copy at a few kilobytes.
func openSmall(t *testing.T, dir, place string, clock *testClock) *ledger.Ledger {
	t.Helper()
	l := mustOpen(t, dir, ledger.Options{Clock: clock.now, WitnessCopy: place, OwnWitnessCopy: true})
	l.SettleWithLimit(2 << 10)
	return l
}

// TestOwnWitnessCopyStaysSmall writes many checkpoints while another writer and a verifier run. The file holds the
// newest checkpoint of each chain, and still shows truncation.
func TestOwnWitnessCopyStaysSmall(t *testing.T) {
	t.Parallel()
	dir, place, clock := t.TempDir(), filepath.Join(t.TempDir(), "checkpoints"), newTestClock()
	const each = 60
	var writers sync.WaitGroup
	for range 2 {
		l := openSmall(t, dir, place, clock)
		writers.Go(func() {
			for i := range each {
				clock.move(2 * time.Second)
				appendSome(t, l, i, 1)
				l.SettleWithLimit(4 << 10)
			}
			mustClose(t, l)
		})
	}
	for range 20 {
		report, err := verify.Dir(context.Background(), dir, verify.Options{OwnWitnessCopies: []string{place}})
		if err != nil {
			t.Fatal(err)
		}
		reportOK(t, report)
	}
	writers.Wait()
	info, err := os.Stat(place)
	if err != nil || info.Size() > 16<<10 {
		t.Errorf("%d checkpoints take %d bytes, %v", 2*each, info.Size(), err)
	}
	report := verifyDir(t, dir, place)
	reportOK(t, report)
	for _, c := range report.Chains {
		if c.Witnessed < 2*each {
			t.Errorf("the witness copy covers %d of %d entries of %s", c.Witnessed, c.Size, c.Chain)
		}
	}
	chain := ledger.ChainsOf(t, dir)[0]
	lines := strings.SplitAfter(string(ledger.FileOf(t, dir, chain, format.ActiveSegment)), "\n")
	for name, data := range map[string]string{format.ActiveSegment: strings.Join(lines[:each], ""), format.CheckpointsFile: ""} {
		if err := os.WriteFile(filepath.Join(dir, chain, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reportDamage(t, verifyDir(t, dir, place), "truncated", chain, each+1)
}

// TestSharedWitnessCopyIsOnlyAppendedTo checks that a shared file is never rewritten: other ledgers may write to it,
// or the operator may have made it append-only.
func TestSharedWitnessCopyIsOnlyAppendedTo(t *testing.T) {
	t.Parallel()
	dir, place, clock := t.TempDir(), filepath.Join(t.TempDir(), "checkpoints"), newTestClock()
	l := mustOpen(t, dir, ledger.Options{Clock: clock.now, WitnessCopy: place})
	if limit := l.RewriteLimit(); limit != 0 {
		t.Errorf("it is rewritten at %d bytes", limit)
	}
	mustClose(t, l)
}
