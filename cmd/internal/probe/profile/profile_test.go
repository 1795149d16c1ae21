package profile_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/candor-mcp/candor/cmd/internal/mask"
	"github.com/candor-mcp/candor/cmd/internal/probe/profile"
	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/wire"
)

func seen(tool, name string, expect probe.Expect, response string) probe.Observation {
	group := probe.GroupValidation
	if name == probe.CaseNonexistent || name == probe.CaseNoArgsValid {
		group = probe.GroupDomain
	}
	return probe.Observation{Case: probe.Case{Group: group, Name: name, Tool: tool, Expect: expect}, Outcome: probe.OutcomeAnswered,
		Response: `{"jsonrpc":"2.0","id":1,"result":` + response + `}`}
}

func says(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"content":[{"type":"text","text":` + string(quoted) + `}]}`
}

func TestMaskedFailuresBecomeRules(t *testing.T) {
	t.Parallel()
	run := &probe.Run{Server: probe.Server{Name: "shop"}, Observations: []probe.Observation{
		seen("invoice", probe.CaseNonexistent, probe.ExpectFailure, says(`{"success":false,"error":"Invoice 7 does not exist"}`)),
		seen("invoice", probe.CaseMissingRequired, probe.ExpectRefusal, says(`{"success":false,"error":"id is required"}`)),
		seen("orders", probe.CaseMissingRequired, probe.ExpectRefusal, says("Error: customer is required")),
		seen("orders", probe.CaseNoArgsValid, probe.ExpectAnswer, says("3 orders")),
		seen("honest", probe.CaseMissingRequired, probe.ExpectRefusal, `{"content":[{"type":"text","text":"Error: no"}],"isError":true}`),
	}}
	p := profile.Learn(run)
	if len(p.Masks) != 2 || p.Masks[0].Path != "/success" || p.Masks[0].Equals != "false" || p.Masks[1].Text != `^\s*Error:` || p.Masks[1].Tool != "orders" {
		t.Errorf("learnt %+v", p.Masks)
	}
	var back struct {
		Version int
		Server  string
		Masks   []map[string]any
	}
	if err := yaml.Unmarshal(p.YAML(), &back); err != nil {
		t.Fatalf("%v in\n%s", err, p.YAML())
	}
	if back.Version != 1 || back.Server != "shop" || len(back.Masks) != 2 || back.Masks[0]["equals"] != false {
		t.Errorf("%s", p.YAML())
	}
}

// TestNoRuleMatchesASuccess has a tool with successes that begin like its failures.
func TestNoRuleMatchesASuccess(t *testing.T) {
	t.Parallel()
	run := &probe.Run{Observations: []probe.Observation{
		seen("log", probe.CaseMissingRequired, probe.ExpectRefusal, says("Error: name is required")),
		seen("log", probe.CaseNoArgsValid, probe.ExpectAnswer, says(strings.Repeat("Error: disk full\n", 500)+"these were all entries of the log")),
	}}
	for _, m := range profile.Learn(run).Masks {
		if m.Text == `^\s*Error:` {
			t.Errorf("the rule %q holds for a success", m.Text)
		}
	}
}

// TestUnknownPropertyDoesNotHideAFailure has a tool that ignores unknown arguments and fails for another reason.
func TestUnknownPropertyDoesNotHideAFailure(t *testing.T) {
	t.Parallel()
	const failure = `{"status":"error","message":"Request not found"}`
	run := &probe.Run{Observations: []probe.Observation{
		seen("task", probe.CaseExtraProperty, probe.ExpectAnswer, says(failure)),
		seen("task", probe.CaseNonexistent, probe.ExpectFailure, says(failure)),
		seen("task", probe.CaseNoArgsValid, probe.ExpectAnswer, says("done")),
		seen("list", probe.CaseExtraProperty, probe.ExpectAnswer, says(failure)),
	}}
	cancelled := seen("task", probe.CaseCancel, probe.ExpectSilence, says(failure))
	cancelled.Case.Group = probe.GroupLiveness
	run.Observations = append(run.Observations, cancelled)
	if p := profile.Learn(run); len(p.Masks) != 1 || p.Masks[0].Tool != "task" || p.Masks[0].Path != "/status" {
		t.Errorf("learnt %+v", p.Masks)
	}
}

// TestComplaintAboutOneItemDoesNotMatchSeveral has a tool that reads several files, and reports in one line that it
// could not read a single file.
func TestComplaintAboutOneItemDoesNotMatchSeveral(t *testing.T) {
	t.Parallel()
	run := &probe.Run{Observations: []probe.Observation{
		seen("read", probe.CaseNonexistent, probe.ExpectFailure, says("/nonexistent/zz/missing.txt: Error - Access denied - path outside allowed directories")),
	}}
	p := profile.Learn(run)
	if len(p.Masks) != 1 {
		t.Fatalf("learnt %+v", p.Masks)
	}
	rule := regexp.MustCompile(p.Masks[0].Text)
	for text, want := range map[string]bool{
		"/a/b.txt: Error - Access denied - no":                          true,
		"/a/b.txt: Error - Access denied - no\n---\n/a/c.txt:\nhello\n": false,
		"/a/b.txt:\nError - Access denied - as the log says":            false,
		"/a/b.txt: Errors - 3":                                          false,
	} {
		if rule.MatchString(text) != want {
			t.Errorf("%s and %q: %v", p.Masks[0].Text, text, !want)
		}
	}
}

// TestErrorsOfAToolBecomeResults learns from failures of the tool, and not from arguments that the gateway refuses
// itself.
func TestErrorsOfAToolBecomeResults(t *testing.T) {
	t.Parallel()
	thrown := func(tool, name string, expect probe.Expect) probe.Observation {
		o := seen(tool, name, expect, "null")
		o.Response = `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no such sheet"}}`
		return o
	}
	run := &probe.Run{Observations: []probe.Observation{
		thrown("copy", probe.CaseNonexistent, probe.ExpectFailure),
		thrown("copy", probe.CaseMissingRequired, probe.ExpectRefusal),
		thrown("paste", probe.CaseMissingRequired, probe.ExpectRefusal),
	}}
	p := profile.Learn(run)
	if len(p.Results) != 1 || p.Results[0].Tool != "copy" {
		t.Errorf("learnt %+v", p.Results)
	}
	var back struct{ Results []map[string]string }
	if err := yaml.Unmarshal(p.YAML(), &back); err != nil || len(back.Results) != 1 || back.Results[0]["tool"] != "copy" {
		t.Errorf("%v in\n%s", err, p.YAML())
	}
}

// TestGuessMakesNoRule has an answer that looks like a failure in a case that need not fail.
func TestGuessMakesNoRule(t *testing.T) {
	t.Parallel()
	run := &probe.Run{Observations: []probe.Observation{
		seen("status", probe.CaseNoArgsValid, probe.ExpectAnswer, says(`{"success":false,"error":"the last build failed"}`)),
	}}
	if p := profile.Learn(run); len(p.Masks)+len(p.Codes) != 0 {
		t.Errorf("learnt %+v", p)
	}
}

func TestHostileNamesDoNotBreakTheFile(t *testing.T) {
	t.Parallel()
	name := "a\"b\n- tool: *\x1b[31m\u202e[x]"
	run := &probe.Run{Server: probe.Server{Name: name}, Observations: []probe.Observation{
		seen(name, probe.CaseMissingRequired, probe.ExpectRefusal, says("Failed: \"evil\"\nmasks: []")),
	}}
	p := profile.Learn(run)
	var back struct {
		Server string
		Masks  []struct{ Tool string }
	}
	if err := yaml.Unmarshal(p.YAML(), &back); err != nil {
		t.Fatalf("%v in\n%s", err, p.YAML())
	}
	if back.Server != name || len(back.Masks) != 1 || !strings.Contains(back.Masks[0].Tool, `\[x]`) {
		t.Errorf("%+v from\n%s", back, p.YAML())
	}
}

// TestBatchesAndPlainSentencesAreLearntToo has a batch in which all items failed, and a failure text that does not
// begin with a word of failure.
func TestBatchesAndPlainSentencesAreLearntToo(t *testing.T) {
	t.Parallel()
	run := &probe.Run{Observations: []probe.Observation{
		seen("moor", probe.CaseNonexistent, probe.ExpectFailure, says(`[{"berth":"zz","success":false,"error":"No such berth"}]`)),
		seen("read", probe.CaseNonexistent, probe.ExpectFailure, says(`[{"berth":"zz","error":"No such berth"}]`)),
		seen("berths", probe.CaseNonexistent, probe.ExpectFailure, says("The name must be one of the berths of https://pier.example")),
		seen("berths", probe.CaseNoArgsValid, probe.ExpectAnswer, says("The berths are north and south")),
	}}
	p := profile.Learn(run)
	if len(p.Masks) != 3 || p.Masks[0].Path != "/0/success" || p.Masks[1].Path != "/0/error" || !strings.HasPrefix(p.Masks[2].Text, `^\s*The\s+name`) || !strings.HasSuffix(p.Masks[2].Text, `\S+\s*$`) {
		t.Fatalf("learnt %+v", p.Masks)
	}
	for text, want := range map[string]bool{
		`[{"berth":"a","success":false,"error":"No such berth"},{"berth":"b","success":false}]`: true,
		`[{"berth":"a","success":false,"error":"No such berth"},{"berth":"b","success": true}]`: false,
		`[{"berth":"a","error":"No such berth"}]`:                                               true,
		`[{"berth":"a","error":"No such berth"},{"berth":"b","content":"free"}]`:                false,
		`[]`: false,
	} {
		m := p.Masks[0]
		if !strings.Contains(text, "success") {
			m = p.Masks[1]
		}
		test, err := mask.Rule{Path: m.Path, Equals: m.Equals, Except: m.Except}.Compile()
		if err != nil {
			t.Fatal(err)
		}
		result, err := wire.ParseValue([]byte(says(text)), wire.Limits{})
		if err != nil || test.Holds(result) != want {
			t.Errorf("%s is a failure: %v, want %v (%v)", text, !want, want, err)
		}
	}
	if !strings.Contains(string(p.YAML()), `except: "\"success\"`) {
		t.Errorf("%s", p.YAML())
	}
}

// TestPartlySuccessfulBatchIsNotAFailure has statuses that begin like a failure, and answers whose text does not show
// the successful items.
func TestPartlySuccessfulBatchIsNotAFailure(t *testing.T) {
	t.Parallel()
	told := func(structured, text string) string {
		return strings.TrimSuffix(says(text), "}") + `,"structuredContent":` + structured + `}`
	}
	run := &probe.Run{Observations: []probe.Observation{
		seen("moor", probe.CaseNonexistent, probe.ExpectFailure, says(`[{"berth":"zz","status":"error","error":"No such berth"}]`)),
		seen("read", probe.CaseNonexistent, probe.ExpectFailure, says(`[{"berth":"zz","success":false,"error":"No such berth"}]`)),
	}}
	p := profile.Learn(run)
	if len(p.Masks) != 2 || p.Masks[0].Path != "/0/status" || p.Masks[1].Path != "/0/success" {
		t.Fatalf("learnt %+v", p.Masks)
	}
	const mixed = `[{"berth":"a","success":false},{"berth":"b","success":true}]`
	for i, answers := range []map[string]bool{
		{
			says(`[{"status":"error"},{"status":"failed"},{"status":"failure"}]`): true,
			says(`[{"status":"error"},{"status":"finished"}]`):                    false,
			says(`[{"status":"error"},{"status":"found"}]`):                       false,
			says(`[{"status":"error"},{"status":"enabled"}]`):                     false,
			says(`[{"status":"error"},{"status":"executed"}]`):                    false,
			says(`[{"status":"error"},{"status":"ok"}]`):                          false,
		},
		{told(mixed, mixed): false, told(mixed, "1 of 2 done"): false},
	} {
		m := p.Masks[i]
		test, err := mask.Rule{Path: m.Path, Equals: m.Equals, Text: m.Text, Except: m.Except}.Compile()
		if err != nil {
			t.Fatal(err)
		}
		for answer, want := range answers {
			result, err := wire.ParseValue([]byte(answer), wire.Limits{})
			if err != nil || test.Holds(result) != want {
				t.Errorf("%s is a failure: %v, want %v (%v)", answer, !want, want, err)
			}
		}
	}
}
