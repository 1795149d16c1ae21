package rules_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/probe/rules"
)

// planner gives a tool arguments with names of several words.
func planner(t *probe.Tool) {
	t.InputSchema = json.RawMessage(`{"type":"object","properties":{"startDate":{"type":"string"},"issue_id":{"type":"string"},"tags":{"type":"array"},"repo":{"type":"string","title":"Source repository"}},"required":["startDate"]}`)
}

// TestArgumentMayBeNamedInPlainWords has refusals that name the argument in words other than the schema's, and some
// that name something else.
func TestArgumentMayBeNamedInPlainWords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		field, words string
		named        bool
	}{
		{"/startDate", "INVALID: please give the start date", true},
		{"/startDate", "INVALID: Start-Date is wrong", true},
		{"/startDate", "INVALID: the date of the start is wrong", true},
		{"/startDate", "INVALID: start_date is wrong", true},
		{"/startDate", "INVALID:\nstart date", true},
		{"/startDate", "INVALID: the date is wrong", false},
		{"/startDate", "INVALID: start over with arguments that are sound on a later date", false},
		{"/issue_id", "INVALID: no issue ID was given", true},
		{"/issue_id", "INVALID: the issue is wrong", false},
		{"/tags", "INVALID: each tag must be a text", true},
		{"/repo", "INVALID: the source repository is wrong", true},
		{"/repo", "INVALID: the arguments are wrong", false},
	} {
		o := invalid(probe.CaseWrongType, tc.field, text(true, tc.words))
		o.Request = strings.Replace(o.Request, `"arguments":{}`, `"arguments":{"`+tc.field[1:]+`":42}`, 1)
		got, report := found(t, one(absent(text(true, "GONE: no such page")), o).with(planner))
		if strings.Contains(got, "EC015") == tc.named {
			t.Errorf("%s and %q: found %q\n%s", tc.field, tc.words, got, show(report))
		}
	}
}

// TestRefusalOfAMadeUpValueDoesNotCount has a server that first refuses another argument with a value that probe made up.
func TestRefusalOfAMadeUpValueDoesNotCount(t *testing.T) {
	t.Parallel()
	for words, spared := range map[string]bool{
		"INVALID: zz-does-not-exist cannot be read":  true, // quotes the value
		"INVALID: this is not a start date":          true, // names the other argument
		"INVALID: the arguments are wrong":           false,
		"INVALID: nothing of that can be understood": false,
	} {
		o := invalid(probe.CaseWrongType, "/issue_id", text(true, words))
		o.Request = strings.Replace(o.Request, `"arguments":{}`, `"arguments":{"startDate":"zz-does-not-exist","issue_id":42}`, 1)
		if got, report := found(t, one(absent(text(true, "GONE: no such page")), o).with(planner)); strings.Contains(got, "EC015") == spared {
			t.Errorf("%q: found %q\n%s", words, got, show(report))
		}
		if got, report := found(t, one(absent(text(true, words)), o).with(planner)); strings.Contains(got, "EC015") {
			t.Errorf("%q, as sound arguments are refused: found %q\n%s", words, got, show(report))
		}
	}
}

// TestRequestedErrorIsNotAFailure has the tool of server-everything that returns a sample of each kind of message.
func TestRequestedErrorIsNotAFailure(t *testing.T) {
	t.Parallel()
	samples := func(t *probe.Tool) {
		t.InputSchema = json.RawMessage(`{"type":"object","properties":{"messageType":{"type":"string","enum":["error","success","debug"]}},"required":["messageType"]}`)
	}
	for value, want := range map[string]string{"error": rules.LabelOkOrEmpty, "success": rules.LabelMaskedText} {
		o := call(probe.GroupDomain, probe.CaseNonexistent, probe.ExpectAnswer, text(false, "Error: Operation failed"))
		o.Request = strings.Replace(o.Request, `"arguments":{}`, `"arguments":{"messageType":"`+value+`"}`, 1)
		s := one(o).with(samples)
		if got := rules.Label(&o, &s.tool); got != want {
			t.Errorf("asked for %s: %s, want %s", value, got, want)
		}
		if got, _ := found(t, s); strings.Contains(got, "EC001") != (value == "success") {
			t.Errorf("asked for %s: found %q", value, got)
		}
	}
}

// TestOnlyARefusalOfArgumentsHasToNameThem has answers to a call without arguments, of a tool that is never called with
// valid ones.
func TestOnlyARefusalOfArgumentsHasToNameThem(t *testing.T) {
	t.Parallel()
	for words, held := range map[string]bool{
		"MCP error -32601: Tool search requires task augmentation (taskSupport: 'required')": false,
		"ERR_X: the daemon is not there":             false,
		"INVALID_ARGUMENTS: the arguments are wrong": true,
	} {
		if got, _ := found(t, one(missing(text(true, words)))); strings.Contains(got, "EC015") != held {
			t.Errorf("%q: found %q", words, got)
		}
	}
}
