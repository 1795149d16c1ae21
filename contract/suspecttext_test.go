package contract_test

import (
	"testing"

	"github.com/candor-mcp/candor/contract"
)

// TestAListOfNothingIsAnAnswer has tools that say what there is not: some were asked for exactly that, others needed it.
func TestAListOfNothingIsAnAnswer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		tool, text string
		failed     bool
	}{
		{"list_spec_sources", "No OpenAPI specifications configured.", false},
		{"listDevices", "No devices connected", false},
		{"list_tabs", "No browser connected.", true},
		{"get_spec", "No specifications configured.", true},
		{"list_devices", "No devices connected. Please start one first.", true},
	} {
		if got := contract.Classify(answered(t, tc.tool, `{}`, tc.text)); got.Verdict.Failure() != tc.failed {
			t.Errorf("%s says %q: %s by %s", tc.tool, tc.text, got.Verdict, got.Rule)
		}
	}
}

// TestALongFailureIsOneByItsFirstWords has a text of many lines, as of a tool that adds all it knows.
func TestALongFailureIsOneByItsFirstWords(t *testing.T) {
	t.Parallel()
	const rest = "\nDetails:\nthe socket was closed\nby the other side\n--> before the answer\n|   was complete\n--- or had begun\nAsk your administrator."
	for text, failed := range map[string]bool{
		"An error occurred while creating the record." + rest:         true,
		"An unexpected error has occurred." + rest:                    true,
		"An error budget is what a team may spend in a month." + rest: false,
	} {
		if got := contract.Classify(answered(t, "create_record", `{}`, text)); got.Verdict.Failure() != failed {
			t.Errorf("%q: %s by %s", text[:40], got.Verdict, got.Rule)
		}
	}
}

// TestTheNumberOfAnExitCounts: a command that ended well may say so.
func TestTheNumberOfAnExitCounts(t *testing.T) {
	t.Parallel()
	for text, failed := range map[string]bool{"Exit code: 0": false, "Process exited with code 0": false, "Exit code: 2": true, "Process exited with code 10": true} {
		if got := contract.Classify(answered(t, "build", `{}`, text)); got.Verdict.Failure() != failed {
			t.Errorf("%q: %s by %s", text, got.Verdict, got.Rule)
		}
	}
}
