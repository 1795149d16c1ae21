package export

import (
	"context"
	"testing"

	"github.com/candor-mcp/candor/ledger"
)

// TestCountSuspected checks that a failure that was passed on as a success is also counted as
// suspected.
func TestCountSuspected(t *testing.T) {
	dir := t.TempDir()
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, outcome := range []ledger.Outcome{ledger.OutcomeError, ledger.OutcomeSuspected, ledger.OutcomeSuspected} {
		if _, err := l.Append(context.Background(), ledger.Entry{Kind: ledger.KindFailure, Outcome: outcome}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	stats, err := Count(context.Background(), r, ByCode, ledger.ReadOptions{})
	if err != nil || stats.Failures != 3 || stats.Suspected != 2 {
		t.Errorf("%d failures, %d suspected, %v; want 3 and 2", stats.Failures, stats.Suspected, err)
	}
}
