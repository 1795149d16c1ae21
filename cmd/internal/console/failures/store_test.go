package failures_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/ledger"
	ledgerexport "github.com/candor-mcp/candor/ledger/export"
)

func TestSummaryAgreesWithLedgerStats(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 1))
		dir := t.TempDir()
		l := openLedger(t, dir, ledger.Options{MaxSegmentBytes: 20 << 10})
		appendRandom(t, l, random, 200)
		s := open(t, dir, failures.Options{})
		sum, err := s.Summarize(ctx, failures.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		for by, got := range map[ledgerexport.Dimension][]failures.Count{
			ledgerexport.ByCode: sum.Codes, ledgerexport.ByTool: sum.Tools, ledgerexport.ByServer: sum.Servers, ledgerexport.ByClass: sum.Classes,
		} {
			want := stats(t, dir, by)
			if sum.Total != want.Failures || sum.Suspected != want.Suspected {
				t.Errorf("seed %d: %d failures, %d suspected; want %d, %d", seed, sum.Total, sum.Suspected, want.Failures, want.Suspected)
			}
			if len(got) != len(want.Buckets) {
				t.Fatalf("seed %d: by %s: %v, want %v", seed, by, got, want.Buckets)
			}
			for i, b := range want.Buckets {
				if got[i] != (failures.Count{Name: b.Name, Count: b.Count}) {
					t.Errorf("seed %d: by %s: %v, want %v", seed, by, got[i], b)
				}
			}
		}
	}
}

func stats(t *testing.T, dir string, by ledgerexport.Dimension) ledgerexport.Stats {
	t.Helper()
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // only read
	s, err := ledgerexport.Count(context.Background(), r, by, ledger.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
