package ledger_test

import (
	"testing"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
)

// TestServerIsTheUpstreamOrTheInstance checks that texts of peers cannot imitate the member with the name.
func TestServerIsTheUpstreamOrTheInstance(t *testing.T) {
	t.Parallel()
	const forged = `x,"data":{"upstream":"forged"},"upstream":"forged"`
	failed := candor.New(candor.CodeNotFound, forged, candor.WithTool(forged), candor.WithRef("r1"))
	dir := t.TempDir()
	l, err := ledger.Open(dir, ledger.Options{Instance: "my-server"})
	if err != nil {
		t.Fatal(err)
	}
	for _, upstream := range []string{"@scope/server-x", ""} {
		e := ledger.FailureEntry(candor.Failure{Error: failed, Verdict: "tool", Method: forged, Upstream: upstream, Received: []byte(forged), Sent: []byte(forged)})
		e.Cause = forged
		if _, err := l.Append(t.Context(), e); err != nil {
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
	defer r.Close()                                                            //nolint:errcheck // it was only read
	want := []string{"my-server", "@scope/server-x", "my-server", "my-server"} // the first and the last are a setting and a checkpoint
	for line, err := range r.Entries(t.Context(), ledger.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		record, err := line.Record()
		if err != nil || len(want) == 0 {
			t.Fatal(err, line.Seq)
		}
		if line.Server() != want[0] || record.Server() != want[0] {
			t.Errorf("entry %d: %q and %q, want %q", line.Seq, line.Server(), record.Server(), want[0])
		}
		want = want[1:]
	}
	if len(want) > 0 {
		t.Errorf("missing %q", want)
	}
}
