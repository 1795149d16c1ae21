package workrail_test

import (
	"path/filepath"
	"testing"

	"github.com/candor-mcp/candor/ledger"
)

// TestEveryCallIsInTheTrail checks that the start and the end of each call are recorded once, and each failure once
// with its reference. A blocked step is not a failure.
func TestEveryCallIsInTheTrail(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	dir := filepath.Join(p.state, "trail")
	s := p.start("--ledger", dir, "--drill")
	calls, refs := 0, map[string]bool{}
	do := func(tool string, in args) answer {
		calls++
		a := s.call(tool, in)
		if ref, _ := a.canonical().Path("ref").Str(); a.failed() {
			refs[ref] = true
		}
		return a
	}
	a := do("start_workflow", args{"workflowId": "demanding"}).fine()
	do("continue_workflow", args{"continueToken": a.token()}).kind("blocked")
	do("continue_workflow", args{"continueToken": flip(a.token(), 40)}).is("TOKEN_BAD_SIGNATURE")
	do("start_workflow", args{"workflowId": 5}).is("VALIDATION_ERROR")
	do("drill", args{"kind": "panic"}).is("INTERNAL_ERROR")
	do("drill", args{"kind": "timeout"}).is("TIMEOUT")
	do("resume_session", args{}).fine()
	s.End()
	recorded := map[ledger.Kind]int{}
	r, err := ledger.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	for line, err := range r.Entries(t.Context(), ledger.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := line.Record()
		if err != nil {
			t.Fatal(err)
		}
		recorded[e.Kind]++
		if e.Kind == ledger.KindFailure && !refs[e.Ref] {
			t.Errorf("a failure %s is recorded that was not answered", e.Ref)
		}
	}
	entered, left, failed := recorded[ledger.KindEnter], recorded[ledger.KindExit], recorded[ledger.KindFailure]
	if entered != calls || left != calls || failed != len(refs) || failed != 4 {
		t.Errorf("%d calls, %d entered, %d left; %d failures, %d recorded", calls, entered, left, len(refs), failed)
	}
}
