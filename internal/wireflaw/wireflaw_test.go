package wireflaw_test

import (
	"slices"
	"testing"

	"github.com/candor-mcp/candor/internal/wireflaw"
)

// TestFlawNamesAreStable is the written list: a change here is a change of the contract.
func TestFlawNamesAreStable(t *testing.T) {
	want := []string{
		"too_large", "not_json", "truncated", "trailing_data", "bom", "too_deep", "control_character", "bad_utf8",
		"lone_surrogate", "duplicate_key", "folded_name", "batch", "not_object", "bad_version", "bad_id", "null_id",
		"missing_id", "bad_method", "bad_params", "bad_error", "result_and_error", "request_and_response",
		"neither_result_nor_error",
	}
	var got []string
	for _, f := range wireflaw.All() {
		got = append(got, f.String())
		if f.Reason() == "" || f.Reason() == wireflaw.None.Reason() {
			t.Errorf("%v has no reason", f)
		}
		if back, ok := wireflaw.Parse(f.String()); !ok || back != f {
			t.Errorf("%v is read back as %v", f, back)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the set is %q", got)
	}
	if _, ok := wireflaw.Parse("unknown"); ok || wireflaw.Flaw(200).String() != "unknown" || wireflaw.Flaw(200).Reason() == "" {
		t.Error("a number outside the set has a name")
	}
}

func TestAFlawSetHoldsWhatWasPutIn(t *testing.T) {
	fs := wireflaw.SetOf(wireflaw.Batch, wireflaw.BadID, wireflaw.None, wireflaw.Flaw(99))
	if got := slices.Collect(fs.All()); !slices.Equal(got, []wireflaw.Flaw{wireflaw.Batch, wireflaw.BadID}) {
		t.Errorf("the set holds %v", got)
	}
	if fs.Has(wireflaw.None) || fs.Has(wireflaw.BOM) || !fs.Has(wireflaw.BadID) || fs.Empty() {
		t.Error("membership is wrong")
	}
	if !fs.Without(wireflaw.Batch, wireflaw.BadID).Empty() {
		t.Error("nothing should be left")
	}
}
