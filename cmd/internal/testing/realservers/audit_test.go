package realservers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/internal/testing/corpus"
	"github.com/candor-mcp/candor/wire"
)

// broken checks that the audit has a problem that contains want, or none if want is "".
func broken(t *testing.T, a *Audit, want string) {
	t.Helper()
	got := strings.Join(a.Problems, "\n")
	if want == "" && got != "" || !strings.Contains(got, want) {
		t.Errorf("problems are %q, want %q", got, want)
	}
}

func graded(grade probe.Grade, score int, tool probe.Grade, findings ...probe.Finding) *probe.Report {
	return &probe.Report{Grade: grade, Score: score, Tools: []probe.ToolReport{{Tool: "read", Grade: tool}}, Findings: findings}
}

func TestGradesAreHeldToThePromise(t *testing.T) {
	outside := probe.Finding{Rule: "EC001", Tool: "read", Severity: probe.SeverityCritical, Outside: true, Count: 1}
	inside := probe.Finding{Rule: "EC004", Tool: "read", Severity: probe.SeverityMajor, Count: 1}
	for name, c := range map[string]struct {
		direct, wrapped *probe.Report
		want            string
		held            bool
	}{
		"it rises":                        {graded("D", 60, "D", outside), graded("A", 100, "A"), "", false},
		"nothing can be mended":           {graded("C", 90, "C", inside), graded("C", 90, "C", inside), "", false},
		"the rest is the server's affair": {graded("C", 60, "C", outside, inside), graded("C", 90, "C", inside), "", true},
		"it stays":                        {graded("D", 60, "D", outside), graded("D", 70, "D", outside), "the grade stays D", false},
		"it stays, and the score as well": {graded("C", 90, "C", outside, inside), graded("C", 90, "C", inside), "the grade stays C", false},
		"a tool falls":                    {graded("B", 90, "A"), graded("B", 90, "B"), "the grade of read falls from A to B", false},
		"the server falls":                {graded("A", 100, "A"), graded("B", 90, "A"), "the grade of the server falls", false},
		"a tool is gone":                  {graded("A", 100, "A"), &probe.Report{Grade: "A", Score: 100}, "tool read is gone", false},
	} {
		t.Run(name, func(t *testing.T) {
			var a Audit
			a.holdGrades(c.direct, c.wrapped)
			broken(t, &a, c.want)
			if a.Held != c.held {
				t.Errorf("held is %v", a.Held)
			}
		})
	}
}

func answered(name, response string) probe.Observation {
	return probe.Observation{Case: probe.Case{Group: probe.GroupDomain, Name: name, Tool: "read", Expect: probe.ExpectAnswer}, Outcome: probe.OutcomeAnswered,
		Request: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{}}}`, Response: response}
}

func TestSuccessesAreHeldToTheBytesThatTheServerWrote(t *testing.T) {
	direct := &probe.Run{Observations: []probe.Observation{answered(probe.CaseNoArgsValid, atTen)}}
	for name, c := range map[string]struct{ written, through, want string }{
		"the same bytes":           {later, later, ""},
		"a folder of our own":      {strings.ReplaceAll(later, "10:02", "candor-probe-77/x"), strings.ReplaceAll(later, "10:02", "candor-probe-0/x"), ""},
		"other bytes":              {later, byAnother, "a success changes"},
		"a failure":                {later, gone, "a success changes"},
		"refused on the way":       {"", gone, "did not reach the server"},
		"other bytes of the frame": {atTen, spaced, "a success changes"},
	} {
		t.Run(name, func(t *testing.T) {
			written := map[string]Answer{}
			if c.written != "" {
				written["1"] = Answer{raw: []byte(c.written), message: wire.Parse([]byte(c.written), wire.Limits{})}
			}
			var a Audit
			a.holdSuccesses(direct, &probe.Run{Observations: []probe.Observation{answered(probe.CaseNoArgsValid, c.through)}}, written)
			broken(t, &a, c.want)
			if (a.Successes == 1) != (c.want == "") {
				t.Errorf("%d successes", a.Successes)
			}
		})
	}
	var a Audit
	a.holdSuccesses(direct, &probe.Run{}, nil)
	broken(t, &a, "has no answer any more")
}

func TestASecondRunMustFindTheSame(t *testing.T) {
	once := probe.Finding{Rule: "EC001", Tool: "read", Severity: probe.SeverityCritical, Count: 1}
	twice := once
	twice.Count = 2
	for name, c := range map[string]struct {
		first, second *probe.Report
		want          string
	}{
		"the same":        {graded("D", 60, "D", once), graded("D", 60, "D", once), ""},
		"more often":      {graded("D", 60, "D", once), graded("D", 60, "D", twice), "seen 1 times, and 2 times"},
		"not any more":    {graded("D", 60, "D", once), graded("D", 60, "D"), "seen 1 times, and 0 times"},
		"new":             {graded("D", 60, "D"), graded("D", 60, "D", once), "only in a second run"},
		"another grade":   {graded("D", 60, "D"), graded("C", 60, "D"), "the grade is D"},
		"another score":   {graded("D", 60, "D"), graded("D", 61, "D"), "the grade is D (60)"},
		"of other weight": {graded("D", 60, "D", once), graded("D", 60, "D", probe.Finding{Rule: "EC001", Tool: "read", Severity: probe.SeverityMinor, Count: 1}), "minor"},
	} {
		t.Run(name, func(t *testing.T) {
			var a Audit
			a.holdFindings(c.first, c.second)
			broken(t, &a, c.want)
		})
	}
}

func TestTheGatewayMustStayAlive(t *testing.T) {
	ended := func(o probe.Outcome) *probe.Run {
		one := answered(probe.CaseNonexistent, "")
		one.Outcome = o
		return &probe.Run{Observations: []probe.Observation{one}}
	}
	for _, c := range []struct {
		direct, wrapped probe.Outcome
		want            string
	}{
		{probe.OutcomeAnswered, probe.OutcomeAnswered, ""},
		{probe.OutcomeCrash, probe.OutcomeCrash, ""},
		{probe.OutcomeCrash, probe.OutcomeAnswered, ""},
		{probe.OutcomeAnswered, probe.OutcomeCrash, "ends in a crash"},
		{probe.OutcomeAnswered, probe.OutcomeHang, "ends in a hang"},
	} {
		var a Audit
		a.holdLife(ended(c.direct), ended(c.wrapped))
		broken(t, &a, c.want)
	}
}

func TestARunMustBeWholeQuickAndTidy(t *testing.T) {
	var a Audit
	a.holdRun("directly", look{run: &probe.Run{}, took: time.Second}, nil)
	broken(t, &a, "")
	a.holdRun("directly", look{run: &probe.Run{Incomplete: "it was stopped"}, took: 2 * probeLimit}, []string{"1: node"})
	for _, want := range []string{"not complete: it was stopped", "it took 120 s", "left behind 1: node"} {
		broken(t, &a, want)
	}
}

func TestARuleThatTakesARecordedSuccessForAFailureIsFound(t *testing.T) {
	name := filepath.Join(t.TempDir(), "profile.yaml")
	success := corpus.Record{Tool: "read", Case: "log", Request: []byte(answered("", "").Request), Response: []byte(atTen)}
	for text, want := range map[string]string{"^done": "recorded success log of read changes", "^gone": ""} {
		if err := os.WriteFile(name, []byte("version: 1\nmasks:\n  - {tool: read, text: "+text+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var a Audit
		if err := a.holdRecordedSuccesses(t.Context(), name, []corpus.Record{success}); err != nil {
			t.Fatal(err)
		}
		broken(t, &a, want)
	}
}

func TestOnlyTheSameCallIsInCommon(t *testing.T) {
	for _, c := range []struct {
		sent, recorded string
		want           bool
	}{
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":{"b":1}}}`, `{"id":1,"jsonrpc":"2.0","method":"tools/call","params":{"arguments":{"b":1},"name":"a"}}`, true},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":{"b":2}}}`, `{"id":1,"jsonrpc":"2.0","method":"tools/call","params":{"arguments":{"b":1},"name":"a"}}`, false},
		{`{"id":1`, `{"raw":"{\"id\":1"}`, true},
		{`{"id":1`, `{"raw":"{\"id\":2"}`, false},
		{`[{"id":4,"method":"ping"}]`, `{"raw":"[{\"id\":9,\"method\":\"ping\"}]"}`, true},
	} {
		if got := sameCall([]byte(c.sent), []byte(c.recorded)); got != c.want {
			t.Errorf("%s and %s: %v", c.sent, c.recorded, got)
		}
	}
}

func TestLabelsAreComparedWithTheRecordings(t *testing.T) {
	o := answered(probe.CaseNoArgsValid, atTen)
	recorded := func(pattern string) Recordings {
		return Recordings{"s": {corpus.Record{Server: "s", Tool: "read", Group: "domain", Case: o.Case.Name, Pattern: pattern, Request: []byte(o.Request)}}}
	}
	run := &probe.Run{Observations: []probe.Observation{o}}
	asIs := func(text string) string { return text }
	got, err := recorded("ok_or_empty").compare("s", run, asIs)
	if err != nil || got.Common != 1 || got.Agreed != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = recorded("isError_text").compare("s", run, asIs)
	if err != nil || got.Common != 1 || got.Agreed != 0 || len(got.Misses) != 1 || got.Misses[0].Now != "ok_or_empty" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = recorded("ok_or_empty").compare("another", run, asIs); err != nil || got.Common != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	all := Audits{Servers: []Audit{{Compared: true, Agreement: Agreement{Common: 100, Agreed: 96}}}}
	if words := strings.Join(all.Broken(), ""); !strings.Contains(words, "96 of 100") {
		t.Errorf("broken is %q", words)
	}
}

func TestASealedCommandWritesOnlyInItsFolder(t *testing.T) {
	inside, outside := t.TempDir(), t.TempDir()
	s := NewSeal(inside)
	if !s.Closed {
		t.Log("this machine does not allow it")
		return
	}
	touch := func(name string) error {
		line := s.Line([]string{"touch", name})
		return exec.CommandContext(t.Context(), line[0], line[1:]...).Run()
	}
	if err := touch(filepath.Join(inside, "file")); err != nil {
		t.Error(err)
	}
	if err := touch(filepath.Join(outside, "file")); err == nil {
		t.Error("it wrote outside")
	}
	if _, err := os.Stat(filepath.Join(inside, "file")); err != nil {
		t.Error(err)
	}
}
