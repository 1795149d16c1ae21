package profile_test

import (
	"regexp"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/profile"
	"github.com/candor-mcp/candor/internal/probe"
)

// asked returns the observation of a call with these arguments.
func asked(tool, name, arguments string, expect probe.Expect, response string) probe.Observation {
	o := seen(tool, name, expect, response)
	o.Request = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
	return o
}

// TestMasksHaveBoundaries learns from one failure of a tool, and applies the rules to other answers.
func TestMasksHaveBoundaries(t *testing.T) {
	t.Parallel()
	for learnt, others := range map[string]map[string]bool{
		"Error fetching the page":        {"Error fetching the other page": true, "Errors fixed: 3": false, "Error fetchings: 0": false, "Error rate: 0.1 %": false},
		"Error 404: page missing":        {"Error 500: page missing": true, "Errors fixed: 3": false, "Error log is empty": false},
		"Error: no such page":            {"Error: the disk is full": true, "Errors: 0": false},
		"Failed to load the page":        {"Failed to load it": true, "Failed tests: 0": false},
		"No valid page given":            {"No valid page": true, "No problems": false, "Nothing to do": false, "No valid pages are broken": false},
		"Unable to open":                 {"Unable to open": true, "Unable tools: 0": false},
		"Cannot GET the page, not found": {"Cannot GET the page": true, "Cannot GETs": false},
		"Couldn't open the page, sorry":  {"Couldn't open the page": true, "Couldn't be better": false},
	} {
		run := &probe.Run{Observations: []probe.Observation{asked("get", probe.CaseNonexistent, `{"page":"zz"}`, probe.ExpectFailure, says(learnt))}}
		masks := profile.Learn(run).Masks
		if len(masks) != 1 {
			t.Errorf("%q: learnt %+v", learnt, masks)
			continue
		}
		rule := regexp.MustCompile(masks[0].Text)
		for text, want := range others {
			if rule.MatchString(text) != want {
				t.Errorf("learnt from %q: %s, and %q is a failure: %v", learnt, masks[0].Text, text, !want)
			}
		}
	}
}

// TestMasksAreNotNarrowedByFindings has a tool that fails with the same words in a case that need not fail. The judge
// reports that answer, so it does not count as a success.
func TestMasksAreNotNarrowedByFindings(t *testing.T) {
	t.Parallel()
	run := &probe.Run{Observations: []probe.Observation{
		asked("get", probe.CaseNonexistent, `{"page":"zz"}`, probe.ExpectFailure, says("Error: the page does not exist")),
		asked("get", probe.CaseNoArgsValid, `{}`, probe.ExpectAnswer, says("Error: the service is not configured")),
	}}
	if masks := profile.Learn(run).Masks; len(masks) != 1 || masks[0].Text != `^\s*Error:` {
		t.Errorf("learnt %+v", masks)
	}
}

// TestMasksGeneraliseOverArguments has arguments that do not look made up.
func TestMasksGeneraliseOverArguments(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ arguments, text, other string }{
		{`{"city":"Atlantis","units":"metric"}`, "Atlantis is not a valid city with metric values", "New York is not a valid city with imperial values"},
		{`{"query":"SELECT * FROM no_such_table_zz"}`, "Failed SELECT * FROM no_such_table_zz because the table is not there", "Failed DROP TABLE users because the table is not there"},
		{`{"where":{"lang":["German"]}}`, "Could not find German among the languages", "Could not find Old Norse among the languages"},
		{`{"page":"home"}`, "Error fetching home page", "Error fetching start page"},
	} {
		run := &probe.Run{Observations: []probe.Observation{asked("get", probe.CaseNonexistent, tc.arguments, probe.ExpectFailure, `{"content":[{"type":"text","text":"`+tc.text+`"}],"_meta":{}}`)}}
		masks := profile.Learn(run).Masks
		if len(masks) != 1 || !regexp.MustCompile(masks[0].Text).MatchString(tc.other) {
			t.Errorf("%q: learnt %+v", tc.text, masks)
		}
	}
}
