package conformance_test

import (
	"strings"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/testing/conformance"
)

const summary = `=== Running scenario: ping ===
Results saved

=== SUMMARY ===
✓ ping: 2 passed, 0 failed
✗ tasks-lifecycle: 1 passed, 8 failed
✓ sep-2164-resource-not-found: 0 passed, 0 failed, 1 warnings

Total: 3 passed, 8 failed

  ✗ tasks-lifecycle (extension)
`

func TestSummaryIsReadWholeOrNotAtAll(t *testing.T) {
	got, err := conformance.ReadOutcome([]byte(summary))
	if err != nil {
		t.Fatal(err)
	}
	if got.Total != (conformance.Total{Passed: 3, Failed: 8}) || len(got.Scenarios) != 3 {
		t.Errorf("read %+v", got)
	}
	for _, damage := range []struct{ old, new string }{
		{"Total: ", "total "},
		{"Total: 3", "Total: 4"},
		{"✓ ping", "ping"},
	} {
		if o, err := conformance.ReadOutcome([]byte(strings.Replace(summary, damage.old, damage.new, 1))); err == nil {
			t.Errorf("with %q for %q it was read as %+v", damage.new, damage.old, o)
		}
	}
}

func TestDifferenceBehindEqualTotalsIsSeen(t *testing.T) {
	read := func(text string) conformance.Outcome {
		o, err := conformance.ReadOutcome([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	direct := read("✓ a: 1 passed, 0 failed\n✗ b: 0 passed, 1 failed\n\nTotal: 1 passed, 1 failed\n")
	if diff := conformance.Compare(direct, direct); diff != "" {
		t.Errorf("a server differs from itself: %s", diff)
	}
	for _, other := range []string{
		"✗ a: 0 passed, 1 failed\n✓ b: 1 passed, 0 failed\n\nTotal: 1 passed, 1 failed\n",
		"✓ a: 1 passed, 0 failed\n✗ c: 0 passed, 1 failed\n\nTotal: 1 passed, 1 failed\n",
	} {
		if conformance.Compare(direct, read(other)) == "" {
			t.Errorf("no difference seen to\n%s", other)
		}
	}
}
