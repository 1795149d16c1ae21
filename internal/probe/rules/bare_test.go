package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/probe/rules"
)

// TestHTTPErrorWithoutMessageIsNotASuccess checks that an HTML page, a plain text or JSON of a proxy is neither a call
// that ran nor an answer with a wrong id.
func TestHTTPErrorWithoutMessageIsNotASuccess(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"<html>Internal Server Error</html>", "bad arguments: query is required", `{"error":"slow down"}`, `{"error":{"code":429,"message":"slow down"}}`} {
		o := missing("")
		o.Response, o.Status = body, 500
		var rules []string
		r := report(t, one(o))
		for _, f := range r.Findings {
			rules = append(rules, f.Rule)
		}
		if !slices.Contains(rules, "EC027") || slices.ContainsFunc(rules, func(id string) bool { return id != "EC027" && id != "EC039" }) {
			t.Errorf("%s: %v", body, rules)
		}
	}
}

// TestCrashEvidenceHasTheReason checks for the last output of the server, and for the connection error.
func TestCrashEvidenceHasTheReason(t *testing.T) {
	t.Parallel()
	died := missing("")
	died.Response, died.Outcome, died.Exit, died.Stderr = "", probe.OutcomeCrash, "exit status 7", "ready\nTraceback\n  File x\nKeyError: 'query'\n"
	broke := missing("")
	broke.Response, broke.Outcome, broke.Broken = "", probe.OutcomeNoAnswer, "connection closed"
	for want, o := range map[string]probe.Observation{"crash: exit status 7; it printed: Traceback\n  File x\nKeyError: 'query'": died, "no_answer: connection closed": broke} {
		found := report(t, one(o)).Findings
		if len(found) != 1 || !strings.Contains(found[0].Evidence[0].Response, want) {
			t.Errorf("want %q in %+v", want, found)
		}
	}
}

// TestGivenSecretInAnAnswerIsALeak checks that the replacement of a secret in a run is reported as a leak.
func TestGivenSecretInAnAnswerIsALeak(t *testing.T) {
	t.Parallel()
	o := missing(`"result":{"content":[{"type":"text","text":"BAD_KEY: query is refused for the key ` + probe.GivenSecret + `"}],"isError":true}`)
	r := report(t, one(o))
	if !slices.ContainsFunc(r.Findings, func(f probe.Finding) bool { return f.Rule == "EC016" }) {
		t.Errorf("%+v", r.Findings)
	}
}

// TestSecretThatTheServerRemovedIsNoLeak checks values from which a server has removed the secret, and names that only look like them.
func TestSecretThatTheServerRemovedIsNoLeak(t *testing.T) {
	t.Parallel()
	const key = "c2VjcmV0LXZhbHVlLW9mLTI0LWJ5dGVz"
	for words, leak := range map[string]bool{
		"GET /pages?access_token=sk.zzuser.redacted failed": false,
		"password: hidden-by-the-server":                    false,
		"api_key=sk-ab***********yz":                        false,
		"GET /pages?access_token=" + key + " failed":        true,
		"hidden_token=" + key:                               true,
		"redacted password: " + key:                         true,
		"token=" + key + " user=redacted":                   true,
	} {
		r := report(t, one(absent(text(true, "BAD_KEY: no such page, "+words))))
		if got := slices.ContainsFunc(r.Findings, func(f probe.Finding) bool { return f.Rule == "EC016" }); got != leak {
			t.Errorf("%s: leak %v", words, got)
		}
	}
}

// TestFindingNamesArgumentsThatAreNotAnObject checks that a tool can refuse them without a schema.
func TestFindingNamesArgumentsThatAreNotAnObject(t *testing.T) {
	t.Parallel()
	const done = `"result":{"content":[{"type":"text","text":"done"}]}`
	for name, want := range map[string]string{probe.CaseArgsNull: "are not an object", probe.CaseMissingOne: "its own schema refuses"} {
		if found := report(t, one(invalid(name, "", done))).Findings; len(found) != 1 || found[0].Rule != "EC023" || !strings.Contains(found[0].Message, want) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// TestSuspectedMaskIsNotFixableByTheGateway checks that a suspicion, for which the gateway gets no rule, is not marked
// as fixable.
func TestSuspectedMaskIsNotFixableByTheGateway(t *testing.T) {
	t.Parallel()
	for expect, want := range map[probe.Expect]bool{probe.ExpectAnswer: false, probe.ExpectFailure: true} {
		run := &probe.Run{Version: probe.RunVersion, Tools: []probe.Tool{{Name: "bank"}}, Observations: []probe.Observation{{
			Case:     probe.Case{Group: probe.GroupDomain, Name: probe.CaseNonexistent, Tool: "bank", Expect: expect},
			Outcome:  probe.OutcomeAnswered,
			Request:  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bank","arguments":{}}}`,
			Response: `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Error: the bank was not found"}]}}`,
		}}}
		report, err := rules.Judge(run, rules.SetAgent)
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
