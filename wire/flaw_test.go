package wire_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/wire"
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
	for _, f := range wire.AllFlaws() {
		got = append(got, f.String())
		if f.Reason() == "" || f.Reason() == wire.FlawNone.Reason() {
			t.Errorf("%v has no reason", f)
		}
		if back, ok := wire.ParseFlaw(f.String()); !ok || back != f {
			t.Errorf("%v is read back as %v", f, back)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the set is %q", got)
	}
	if _, ok := wire.ParseFlaw("unknown"); ok || wire.Flaw(200).String() != "unknown" || wire.Flaw(200).Reason() == "" {
		t.Error("a number outside the set has a name")
	}
}

func TestAFlawSetHoldsWhatWasPutIn(t *testing.T) {
	fs := wire.FlawsOf(wire.FlawBatch, wire.FlawBadID, wire.FlawNone, wire.Flaw(99))
	if got := slices.Collect(fs.All()); !slices.Equal(got, []wire.Flaw{wire.FlawBatch, wire.FlawBadID}) {
		t.Errorf("the set holds %v", got)
	}
	if fs.Has(wire.FlawNone) || fs.Has(wire.FlawBOM) || !fs.Has(wire.FlawBadID) || fs.Empty() {
		t.Error("membership is wrong")
	}
	if !fs.Without(wire.FlawBatch, wire.FlawBadID).Empty() {
		t.Error("nothing should be left")
	}
}

func TestAMalformationNeverEchoesThePeer(t *testing.T) {
	for _, tc := range flawed {
		if tc.flaw == wire.FlawTooLarge {
			continue
		}
		m := wire.Parse([]byte(strings.ReplaceAll(tc.in, "x", "SECRET")), wire.Limits{})
		if err := m.Err(); err != nil && strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%v echoes its input", err)
		}
	}
	err := fmt.Errorf("reading: %w", wire.Malformation{Flaw: wire.FlawDuplicateKey, Offset: 17})
	if err.Error() != "reading: duplicate_key at byte 17: an object names a member twice" {
		t.Error(err)
	}
	for target, want := range map[wire.Malformation]bool{
		{Flaw: wire.FlawDuplicateKey}: true, {Flaw: wire.FlawDuplicateKey, Offset: 17}: true,
		{Flaw: wire.FlawDuplicateKey, Offset: 3}: false, {Flaw: wire.FlawBOM}: false,
	} {
		if errors.Is(err, target) != want {
			t.Errorf("is it %v: %v", target, !want)
		}
	}
}
