package ledger_test

import (
	"context"
	"testing"
	"time"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/ledger"
)

// TestRecordFailureRecordsOutcome records failures that were sent, not sent, only suspected, and followed by another attempt.
func TestRecordFailureRecordsOutcome(t *testing.T) {
	dir := t.TempDir()
	l, err := ledger.Open(dir, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	failed := candor.New(candor.CodeRateLimited, "", candor.WithRef("r1"), candor.WithTool("search"))
	base := candor.Failure{
		Error: failed, Verdict: "tool", Method: "tools/call", Upstream: "shop", Arguments: []byte(`{"q":1}`), Received: []byte(`{"said":1}`),
		Attempt: 2, Latency: 3 * time.Millisecond,
	}
	sent, suspected, retried := base, base, base
	sent.Sent, suspected.Suspected, retried.Retried = []byte(`{"sent":1}`), true, true
	for _, e := range []candor.Failure{sent, base, suspected, retried} {
		if err := l.RecordFailure(context.Background(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	want := []struct {
		kind    ledger.Kind
		outcome ledger.Outcome
	}{{ledger.KindFailure, ledger.OutcomeError}, {ledger.KindFailure, ledger.OutcomeSuppressed}, {ledger.KindFailure, ledger.OutcomeSuspected},
		{ledger.KindAttempt, ledger.OutcomeError}}
	records := failureRecords(t, dir)
	if len(records) != len(want) {
		t.Fatalf("%d entries", len(records))
	}
	for i, r := range records {
		if r.Kind != want[i].kind || r.Outcome != want[i].outcome {
			t.Errorf("entry %d is a %s with outcome %s, want %v", i, r.Kind, r.Outcome, want[i])
		}
		if r.Ref != "r1" || r.Tool != "search" || r.Attempt != 2 || string(r.Data) != `{"method":"tools/call","upstream":"shop","verdict":"tool"}` {
			t.Errorf("entry %d is %+v", i, r)
		}
	}
}

// failureRecords returns the entries of failures and attempts.
func failureRecords(t *testing.T, dir string) (all []ledger.Record) {
	t.Helper()
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	for line, err := range r.Entries(t.Context(), ledger.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if line.Kind != ledger.KindFailure && line.Kind != ledger.KindAttempt {
			continue
		}
		record, err := line.Record()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, record)
	}
	return all
}
