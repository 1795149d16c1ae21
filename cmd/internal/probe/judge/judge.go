package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// Judge holds a run against a rule set, one of [Sets]; "" is the default, agent. It is pure: the same run gives the same report. The error
// names a set that does not exist; no run is refused, and nil is an empty one. A tool, or a server, of which nothing failed has no grade.
func Judge(run *probe.Run, set string) (*probe.Report, error) {
	if set == "" {
		set = SetAgent
	}
	if !known(set) {
		return nil, fmt.Errorf("unknown rule set %.64q (hint: choose one of %s)", set, strings.Join(Sets(), ", "))
	}
	if run == nil {
		run = &probe.Run{}
	}
	r := &probe.Report{Version: probe.ReportVersion, Begun: run.Begun, Seed: run.Seed, Rules: set, Server: run.Server, Skipped: slices.Clone(run.Skipped),
		Incomplete: run.Incomplete, Applied: rulesOf(set), Tools: []probe.ToolReport{}, Findings: []probe.Finding{}}
	dockets := hear(run, set)
	for _, d := range dockets {
		row := d.row()
		if d.party.idle {
			r.Skipped = append(r.Skipped, probe.Skip{Tool: d.party.name, What: "what it does when its upstream fails", Reason: "it never asked the fake upstream for anything"})
		}
		r.Cases += row.Cases
		r.Failures += row.Failures
		r.Masked += row.Patterns[probe.PatternB] + row.Patterns[probe.PatternMaskedJSON] + row.Patterns[probe.PatternMaskedText]
		if d.party.name == "" {
			r.Protocol = row
			continue
		}
		if skip := skipped(run, row.Tool); row.Cases == 0 && skip != "" {
			row.Skipped = skip
		}
		r.Tools = append(r.Tools, row)
	}
	r.Findings = append(r.Findings, joined(dockets)...)
	order(r.Findings)
	r.Coverage = coverage(run)
	r.Dialect = mainDialect(dockets)
	if judgeable(dockets) {
		r.Grade, r.Score = together(dockets, nil)
		r.Raise = raise(dockets)
	} else if r.Incomplete == "" {
		r.Incomplete = "no case of a tool failed, so there is nothing to judge"
		if len(run.Tools) > 0 && r.Coverage.LeftOut == len(run.Tools) {
			r.Incomplete = "no tool was called"
		}
	}
	r.GradeIncomplete = gradeIncomplete(r)
	return r, nil
}

// judgeable: a server that answers nonsense well, and whose tools were never seen to fail, has not shown how it fails. What was found wrong
// with it is shown all the same.
func judgeable(dockets []*docket) bool {
	return slices.ContainsFunc(dockets, func(d *docket) bool { return !d.unjudged && (d.party.name != "" || len(dockets) == 1) })
}

// hear finds what is wrong with each party.
func hear(run *probe.Run, set string) []*docket {
	var out []*docket
	for _, p := range parties(run, set) {
		d := &docket{party: p, found: find(p), dead: p.dead()}
		for _, f := range d.found {
			d.findings = append(d.findings, finding(f.rule, p, f.hits))
		}
		d.unjudged = len(d.findings) == 0 && p.failures() == 0
		out = append(out, d)
	}
	return out
}

// dead reports a party of which every answer that was due is missing.
func (p *party) dead() bool {
	due := 0
	for _, s := range p.sights {
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

// skipped is why a tool was not called at all.
func skipped(run *probe.Run, tool string) string {
	for _, s := range run.Skipped {
		if s.Tool == tool {
			return s.Reason
		}
	}
	return ""
}

// mainDialect is the one that more than half of the told failures of tools speak, "" if there is none.
func mainDialect(dockets []*docket) string {
	told, speaks := 0, map[string]int{}
	for _, d := range dockets {
		for _, s := range d.party.sights {
			if s.ownTongue() {
				told++
				speaks[s.facts().dialect]++
			}
		}
	}
	for name, n := range speaks {
		if 2*n > told {
			return name
		}
	}
	return ""
}
