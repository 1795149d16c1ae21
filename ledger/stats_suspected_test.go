package ledger

import (
	"context"
	"testing"
)

// TestCountTellsSuspectedFailuresApart: a failure that was passed on as a success is counted as suspected too.
func TestCountTellsSuspectedFailuresApart(t *testing.T) {
	dir := t.TempDir()
	l := openTest(t, dir, Options{})
	for _, outcome := range []Outcome{OutcomeError, OutcomeSuspected, OutcomeSuspected} {
		if _, err := l.Append(context.Background(), Entry{Kind: KindFailure, Outcome: outcome}); err != nil {
			t.Fatal(err)
		}
	}
	closeTest(t, l)
	r, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	stats, err := r.Count(context.Background(), ByCode, ReadOptions{})
	if err != nil || stats.Failures != 3 || stats.Suspected != 2 {
		t.Errorf("%d failures, %d suspected, %v; want 3 and 2", stats.Failures, stats.Suspected, err)
	}
}
