package report_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/candor-mcp/candor/cmd/internal/probe/report"
	"github.com/candor-mcp/candor/internal/probe"
)

// later returns the sample report some weeks later: one finding is fixed, another is new.
func later(t *testing.T) *probe.Report {
	t.Helper()
	r := sample(t)
	r.Server.Version, r.Seed, r.Grade = "2.5.0", 43, probe.GradeC
	r.Tools[1].Grade = probe.GradeA     // task_get
	r.Tools[3].Grade = probe.GradeD     // consensus_vote
	r.Tools[7].Tool = "truncate_tables" // was drop_all_tables
	r.Protocol.Grade = probe.GradeA
	var kept []probe.Finding
	for _, f := range r.Findings {
		switch {
		case f.Rule == "EC002" && f.Tool == "task_get":
			continue
		case f.Rule == "EC015":
			f.Severity = probe.SeverityCritical
		case f.Rule == "EC012":
			f.Severity = probe.SeverityMinor
		}
		kept = append(kept, f)
	}
	r.Findings = append(kept, probe.Finding{
		Rule: "EC001", Severity: probe.SeverityCritical, Tool: "consensus_vote", Field: "/round", Message: "A round that does not exist is told as a success.", Fix: "Set isError.",
	})
	return r
}

func TestComparisonMatchesGoldenFiles(t *testing.T) {
	for name, format := range map[string]string{"delta.txt": report.FormatText, "delta.json": report.FormatJSON, "delta.md": report.FormatMarkdown} {
		var b bytes.Buffer
		if err := report.WriteDelta(&b, format, report.Diff(sample(t), later(t)), report.Options{}); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.String())
	}
}

// TestEachWayToGetWorseIsEnough checks that each kind of regression alone makes the result worse, and its opposite
// makes it better.
func TestEachWayToGetWorseIsEnough(t *testing.T) {
	for name, change := range map[string]func(*probe.Report){
		"a finding more": func(r *probe.Report) {
			r.Findings = append(r.Findings, probe.Finding{Rule: "EC999", Severity: probe.SeverityMinor})
		},
		"a grade of a tool":         func(r *probe.Report) { r.Tools[0].Grade = probe.GradeF },
		"the grade of the server":   func(r *probe.Report) { r.Grade = probe.GradeF },
		"the grade of the protocol": func(r *probe.Report) { r.Protocol.Grade = probe.GradeF },
		"a finding that weighs more": func(r *probe.Report) {
			r.Findings[len(r.Findings)-1].Severity = probe.SeverityCritical
		},
	} {
		changed := sample(t)
		change(changed)
		if d := report.Diff(sample(t), changed); !d.Worse() || d.Better() {
			t.Errorf("%s: not worse", name)
		}
		if d := report.Diff(changed, sample(t)); d.Worse() || !d.Better() {
			t.Errorf("%s, mended: not better", name)
		}
	}
}

func TestInfoFindingsAreNotRegressions(t *testing.T) {
	for name, change := range map[string]func(*probe.Report){
		"nothing":        func(*probe.Report) {},
		"another order":  func(r *probe.Report) { r.Findings[0], r.Findings[5] = r.Findings[5], r.Findings[0] },
		"other evidence": func(r *probe.Report) { r.Findings[0].Evidence, r.Findings[0].Message = nil, "otherwise" },
		"something to know": func(r *probe.Report) {
			r.Findings = append(r.Findings, probe.Finding{Rule: "EC998", Severity: probe.SeverityInfo})
		},
		"a tool more":         func(r *probe.Report) { r.Tools = append(r.Tools, probe.ToolReport{Tool: "new", Grade: probe.GradeF}) },
		"the same key, twice": func(r *probe.Report) { r.Findings = append(r.Findings, r.Findings[0]) },
	} {
		changed := sample(t)
		change(changed)
		if d := report.Diff(sample(t), changed); d.Worse() {
			t.Errorf("%s is worse: %+v", name, d)
		}
	}
	if d := report.Diff(nil, nil); d.Worse() || d.Better() {
		t.Errorf("nothing differs from nothing: %+v", d)
	}
}

// TestPartlyFixedFindingIsNotNew has a tool that first names none of its fields, and then all but one.
func TestPartlyFixedFindingIsNotNew(t *testing.T) {
	t.Parallel()
	about := func(field string) *probe.Report {
		return &probe.Report{Findings: []probe.Finding{{Rule: "EC015", Severity: probe.SeverityMajor, Tool: "search", Field: field}}}
	}
	if d := report.Diff(about(""), about("/page")); d.Worse() || d.Same != 1 || len(d.Gone) > 0 {
		t.Errorf("one field is left: %+v", d)
	}
	for _, fields := range [][2]string{{"/page", ""}, {"/page", "/query"}} {
		if d := report.Diff(about(fields[0]), about(fields[1])); !d.Worse() {
			t.Errorf("from %q to %q: %+v", fields[0], fields[1], d)
		}
	}
}

// TestNewRuleIsNotARegression has a baseline of an older version of candor for an unchanged server.
func TestNewRuleIsNotARegression(t *testing.T) {
	t.Parallel()
	seen := func(grade probe.Grade, applied []string, found ...probe.Finding) *probe.Report {
		r := &probe.Report{Rules: "agent", Grade: grade, Tools: []probe.ToolReport{{Tool: "search", Grade: grade}}, Findings: found}
		for _, id := range applied {
			r.Applied = append(r.Applied, probe.Rule{ID: id})
		}
		return r
	}
	finding := func(rule string) probe.Finding {
		return probe.Finding{Rule: rule, Severity: probe.SeverityMajor, Tool: "search"}
	}
	before := seen(probe.GradeA, []string{"EC001"})
	if d := report.Diff(before, seen(probe.GradeC, []string{"EC001", "EC099"}, finding("EC099"))); d.Worse() || len(d.New) != 1 || len(d.NewRules) != 1 {
		t.Errorf("a new rule: %+v", d)
	}
	for name, after := range map[string]*probe.Report{
		"a rule that was known": seen(probe.GradeC, []string{"EC001", "EC099"}, finding("EC001")),
		"both":                  seen(probe.GradeC, []string{"EC001", "EC099"}, finding("EC001"), finding("EC099")),
		"a grade by itself":     seen(probe.GradeC, []string{"EC001", "EC099"}),
	} {
		if d := report.Diff(before, after); !d.Worse() {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestDiffComparesSharedFindingsByTool checks that merging findings changes nothing, and that a further tool is new.
func TestDiffComparesSharedFindingsByTool(t *testing.T) {
	apart := &probe.Report{Findings: []probe.Finding{{Rule: "EC010", Severity: probe.SeverityMajor, Tool: "a"}, {Rule: "EC010", Severity: probe.SeverityMajor, Tool: "b"}}}
	joined := &probe.Report{Findings: []probe.Finding{{Rule: "EC010", Severity: probe.SeverityMajor, Tools: []string{"a", "b"}}}}
	more := &probe.Report{Findings: []probe.Finding{{Rule: "EC010", Severity: probe.SeverityMajor, Tools: []string{"a", "b", "c"}}}}
	for name, d := range map[string]*report.Delta{"joined": report.Diff(apart, joined), "apart": report.Diff(joined, apart), "the same": report.Diff(joined, joined)} {
		if d.Worse() || len(d.New)+len(d.Gone) > 0 || d.Same != 2 {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if d := report.Diff(joined, more); !d.Worse() || len(d.New) != 1 || !slices.Equal(d.New[0].Tools, []string{"c"}) {
		t.Errorf("a further tool: %+v", d)
	}
	if d := report.Diff(more, apart); d.Worse() || len(d.Gone) != 1 || !slices.Equal(d.Gone[0].Tools, []string{"c"}) {
		t.Errorf("a tool less: %+v", d)
	}
}
