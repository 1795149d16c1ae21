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
