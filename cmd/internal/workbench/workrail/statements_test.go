package workrail_test

import "testing"

// TestW3RetryHasThreeKinds checks the retry advice of every failure.
func TestW3RetryHasThreeKinds(t *testing.T) {
	t.Parallel()
	for name, a := range everyFailure(t) {
		kind, _ := a.envelope().Path("retry", "kind").Str()
		after, delayed := a.envelope().Path("retry", "afterMs").Int64()
		if kind != "not_retryable" && kind != "retryable_immediate" && kind != "retryable_after_ms" || delayed != (kind == "retryable_after_ms") || delayed && after <= 0 {
			t.Errorf("%s: %s", name, a.envelope().Path("retry").Raw())
		}
	}
}

func TestW5DetailsThatCannotBeSentAreReplaced(t *testing.T) {
	t.Parallel()
	a := newPlace(t).start("--drill").call("drill", args{"kind": "unsendable"}).is("PRECONDITION_FAILED").wellFormed()
	if details := a.envelope().Path("details"); !details.Present() || len(details.Raw()) > 8192 {
		t.Errorf("details %.300s", details.Raw())
	}
}

func TestW6AHugeFailureIsBounded(t *testing.T) {
	t.Parallel()
	newPlace(t).start("--drill").call("drill", args{"kind": "huge"}).is("PRECONDITION_FAILED").wellFormed()
}
