package cases_test

import (
	"encoding/json"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/cmd/internal/probe/cases"
)

// TestOnlyWhatIsMadeUpHasToFail has a tool that takes one of a few choices: there is nothing in the call that does not exist.
func TestOnlyWhatIsMadeUpHasToFail(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]probe.Expect{
		`{"type":"object","properties":{"level":{"type":"string","enum":["error","debug"]}},"required":["level"]}`:                         probe.ExpectAnswer,
		`{"type":"object","properties":{"a":{"type":"number"}},"required":["a"]}`:                                                          probe.ExpectAnswer,
		`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`:                                                    probe.ExpectFailure,
		`{"type":"object","properties":{"userId":{"type":"integer"}},"required":["userId"]}`:                                               probe.ExpectFailure,
		`{"type":"object","properties":{"key":{"type":"string","format":"uuid"}},"required":["key"]}`:                                      probe.ExpectFailure,
		`{"type":"object","properties":{"file":{"type":"string"},"level":{"type":"string","enum":["error"]}},"required":["file","level"]}`: probe.ExpectFailure,
	} {
		planned, _ := cases.Plan([]probe.Tool{{Name: "get", InputSchema: json.RawMessage(schema)}}, cases.Options{Yes: true, NoProtocol: true})
		found := false
		for i := range planned {
			if c := &planned[i]; c.Name == probe.CaseNonexistent {
				found = true
				if c.Expect != want {
					t.Errorf("%s: %s is expected, want %s", schema, c.Expect, want)
				}
			}
		}
		if !found {
			t.Errorf("%s: not planned", schema)
		}
	}
}
