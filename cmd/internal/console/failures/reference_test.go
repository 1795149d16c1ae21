package failures_test

import (
	"context"
	"slices"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/console/failures"
	"github.com/candor-mcp/candor/ledger"
)

// scan returns the failures of a ledger, newest first. It decodes all entries: slow, and plain enough to compare the
// index with.
func scan(t testing.TB, dir string) []failures.Failure {
	t.Helper()
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // only read
	var list []failures.Failure
	for l, err := range r.Entries(context.Background(), ledger.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if l.Kind != ledger.KindFailure {
			continue
		}
		record, err := l.Record()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, failures.Of(&record))
	}
	slices.Reverse(list)
	return list
}

// count returns the counts of a list of failures by name.
func count(list []failures.Failure, name func(*failures.Failure) string) map[string]uint64 {
	counts := map[string]uint64{}
	for i := range list {
		n := name(&list[i])
		if n == "" {
			n = failures.None
		}
		counts[n]++
	}
	return counts
}
