package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/probe"
)

// Judge checks a run against a rule set, one of [Sets]; "" is [SetAgent]. The same run gives the same report. The only error is an unknown
// set; a nil run is an empty one. A tool or a server without a failure has no grade.
func Judge(run *probe.Run, set string) (*probe.Report, error) {
	if set == "" {
		set = SetAgent
	}
	if !slices.Contains(Sets(), set) {
		return nil, fmt.Errorf("unknown rule set %.64q (hint: choose one of %s)", set, strings.Join(Sets(), ", "))
	}
	if run == nil {
		run = &probe.Run{}
	}
	r := &probe.Report{Version: probe.ReportVersion, Begun: run.Begun, Seed: run.Seed, Rules: set, Server: run.Server, Skipped: slices.Clone(run.Skipped),
		Incomplete: run.Incomplete, Applied: rulesOf(set), Tools: []probe.ToolReport{}, Findings: []probe.Finding{}}
	assessments := assess(run, set)
	for _, d := range assessments {
		row := d.row()
		if d.subject.idle {
			r.Skipped = append(r.Skipped, probe.Skip{Tool: d.subject.name, What: "upstream failures", Reason: "the tool sent no request to the fake upstream"})
		}
		r.Cases += row.Cases
		r.Failures += row.Failures
		r.Masked += row.Patterns[probe.PatternB] + row.Patterns[probe.PatternMaskedJSON] + row.Patterns[probe.PatternMaskedText]
		if d.subject.name == "" {
			r.Protocol = row
			continue
		}
		if skip := skipped(run, row.Tool); row.Cases == 0 && skip != "" {
			row.Skipped = skip
		}
		r.Tools = append(r.Tools, row)
	}
	r.Findings = probe.Sorted(append(r.Findings, mergeFindings(assessments)...))
	r.Coverage = coverage(run)
	visibility(r, assessments)
	r.Dialect = mainDialect(assessments)
	if judgeable(assessments) {
		r.Grade, r.Score = overall(assessments, nil)
		r.Raise = raise(assessments)
	} else if r.Incomplete == "" {
		r.Incomplete = "no case of a tool failed, so there is no grade"
		if len(run.Tools) > 0 && r.Coverage.LeftOut == len(run.Tools) {
			r.Incomplete = "no tool was called"
		}
	}
	r.GradeIncomplete = gradeIncomplete(r)
	return r, nil
}

// judgeable reports whether the run can be graded. If its tools never failed, a server has not shown how it fails; its findings are reported
// without a grade.
func judgeable(assessments []*assessment) bool {
	return slices.ContainsFunc(assessments, func(d *assessment) bool { return !d.unjudged && (d.subject.name != "" || len(assessments) == 1) })
}

// assess finds the broken rules of each subject.
func assess(run *probe.Run, set string) []*assessment {
	var out []*assessment
	for _, p := range subjectsOf(run, set) {
		d := &assessment{subject: p, found: find(p), dead: p.dead()}
		d.unjudged = len(d.found) == 0 && p.failures() == 0
		out = append(out, d)
	}
	return out
}

// dead reports whether no case that needed an answer got one.
func (p *subject) dead() bool {
	due := 0
	for _, s := range p.results {
		if s.Case.Expect == probe.ExpectSilence {
			continue
		}
		due++
		if s.Outcome != probe.OutcomeCrash && s.Outcome != probe.OutcomeHang {
			return false
		}
	}
	return due > 0
}

// skipped returns why a tool was not called, "" if it was.
func skipped(run *probe.Run, tool string) string {
	for _, s := range run.Skipped {
		if s.Tool == tool {
			return s.Reason
		}
	}
	return ""
}

// mainDialect returns the dialect of more than half of the tools' reported failures, "" if there is none.
func mainDialect(assessments []*assessment) string {
	total, byDialect := 0, map[string]int{}
	for _, d := range assessments {
		for _, s := range d.subject.results {
			if s.isToolFailure() {
				total++
				byDialect[s.facts().dialect]++
			}
		}
	}
	for name, n := range byDialect {
		if 2*n > total {
			return name
		}
	}
	return ""
}
