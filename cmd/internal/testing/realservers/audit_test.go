package realservers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/candor-mcp/candor/internal/probe"
	"github.com/candor-mcp/candor/internal/testing/corpus"
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
				written["1"] = answerOf([]byte(c.written))
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
