package export

import (
	"context"
	"slices"
	"testing"

	"github.com/candor-mcp/candor"
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
	stats, err := Count(context.Background(), r, byCode, ledger.ReadOptions{})
	if err != nil || stats.Failures != 3 || stats.Suspected != 2 {
		t.Errorf("%d failures, %d suspected, %v; want 3 and 2", stats.Failures, stats.Suspected, err)
	}
}

// TestCountOnceBehindAGateway checks that a failure that both a server and the gateway in front of it recorded is counted once, as the
// gateway's, also if only an attempt of the gateway has its ref.
func TestCountOnceBehindAGateway(t *testing.T) {
	dir := t.TempDir()
	record := func(instance string, list ...candor.Failure) {
		l, err := ledger.Open(dir, ledger.Options{Instance: instance})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			if err := l.RecordFailure(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	made := func(ref, theirs string) *candor.Error {
		return candor.New(candor.CodeTimeout, "", candor.WithRef(ref),
			candor.WithDetails(map[string]any{"upstream": map[string]any{"ref": theirs}}))
	}
	record("shop", candor.Failure{Error: made("a1", "")}, candor.Failure{Error: made("a2", "")}, candor.Failure{Error: made("alone", "")})
	record("wrap", candor.Failure{Error: made("b1", "a1"), Upstream: "front", Retried: true, Attempt: 1},
		candor.Failure{Error: made("b2", "a2"), Upstream: "front", Attempt: 2})
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	stats, err := Count(t.Context(), r, byServer, ledger.ReadOptions{})
	want := []Bucket{{"front", 1}, {"shop", 1}}
	if err != nil || stats.Failures != 2 || !slices.Equal(stats.Buckets, want) {
		t.Errorf("%d failures, %v, %v; want 2, %v", stats.Failures, stats.Buckets, err, want)
	}
}
