package judge_test

import (
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/cmd/internal/probe/judge"
)

// TestWhatIsMaskedByGuessAloneCannotBeMendedOutside because no rule for the gateway is made of it.
func TestWhatIsMaskedByGuessAloneCannotBeMendedOutside(t *testing.T) {
	t.Parallel()
	for expect, want := range map[probe.Expect]bool{probe.ExpectAnswer: false, probe.ExpectFailure: true} {
		run := &probe.Run{Version: probe.RunVersion, Tools: []probe.Tool{{Name: "bank"}}, Observations: []probe.Observation{{
			Case:     probe.Case{Group: probe.GroupDomain, Name: probe.CaseNonexistent, Tool: "bank", Expect: expect},
			Outcome:  probe.OutcomeAnswered,
			Request:  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bank","arguments":{}}}`,
			Response: `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Error: the bank was not found"}]}}`,
		}}}
		report, err := judge.Judge(run, judge.SetAgent)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range report.Findings {
			if f.Rule == "EC001" {
				found = true
				if f.Outside != want {
					t.Errorf("where %s is expected, outside is %v", expect, f.Outside)
				}
			}
		}
		if !found {
			t.Errorf("where %s is expected, nothing is found", expect)
		}
	}
}
