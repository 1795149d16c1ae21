package rules

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/probe"
)

const shownCodes = 32 // maximum for one tool

// row returns the subject's row of the inventory.
func (d *assessment) row() probe.ToolReport {
	p := d.subject
	r := probe.ToolReport{Tool: p.name, Cases: len(p.results), Failures: p.failures(), Patterns: map[probe.Pattern]int{}, Findings: len(d.found),
		Kinds: []string{}, Codes: []string{}}
	for _, s := range p.results {
		if way, ok := s.pattern(); ok {
			r.Patterns[way]++
		}
		if !s.reported() {
			continue
		}
		r.Dialects = appendNew(r.Dialects, s.facts().dialect)
		for _, c := range s.facts().codes {
			r.Kinds = appendNew(r.Kinds, c.kind)
			if len(r.Codes) < shownCodes {
				r.Codes = appendNew(r.Codes, candor.Public(c.value, shownName))
			}
		}
		if len(s.facts().codes) == 0 {
			r.Kinds = appendNew(r.Kinds, kindNone)
		}
		if s.leaksSecret() || s.leaksPath() {
			r.Leaks++
		}
	}
	slices.Sort(r.Dialects)
	slices.Sort(r.Kinds)
	slices.Sort(r.Codes)
	r.Retry, r.Field = p.retry(), p.field()
	if d.unjudged {
		r.Skipped = "no case failed, so it has no grade"
		return r
	}
	t := d.tally(nil)
	r.Grade, r.Score = t.grade(), t.score()
	r.Raise = raise([]*assessment{d})
	return r
}

// retry reports whether the temporary failures have retry advice: yes, no, or n/a.
func (p *subject) retry() string {
	temporary := slices.DeleteFunc(slices.Clone(p.results), func(s *caseResult) bool { return !s.isTemporary() })
	switch {
	case len(temporary) == 0:
		return "n/a"
	case slices.ContainsFunc(temporary, func(s *caseResult) bool { return !s.facts().retry }):
		return "no"
	default:
		return "yes"
	}
}

// field reports whether refusals name the wrong argument: always, sometimes, never, or n/a.
func (p *subject) field() string {
	asked, given := 0, 0
	for _, s := range p.results {
		if s.refusesArguments() && len(s.wrongArguments()) > 0 {
			asked++
			if s.namedWrongArguments() > 0 {
				given++
			}
		}
	}
	switch {
	case asked == 0:
		return "n/a"
	case given == 0:
		return "never"
	case asked == given:
		return "always"
	default:
		return "sometimes"
	}
}

// appendNew appends a text, unless it is blank or in the list.
func appendNew(list []string, text string) []string {
	if strings.TrimSpace(text) == "" || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// coverage counts how the tools were called.
func coverage(run *probe.Run) probe.Coverage {
	called, refusing := map[string]bool{}, map[string]bool{}
	for i := range run.Observations {
		c := &run.Observations[i].Case
		switch {
		case c.Tool == "" || c.Method != "tools/call":
		case c.Expect == probe.ExpectRefusal:
			refusing[c.Tool] = true
		default:
			called[c.Tool] = true
		}
	}
	out := probe.Coverage{Tools: len(run.Tools)}
	for i := range run.Tools {
		switch name := run.Tools[i].Name; {
		case called[name]:
			out.Called++
		case refusing[name]:
			out.Refusing++
		default:
			out.LeftOut++
		}
	}
	return out
}

// gradeIncomplete returns why the grade of a report has little meaning. It is "" without a grade, or if the grade is meaningful.
func gradeIncomplete(r *probe.Report) string {
	switch {
	case r.Grade == "" || r.Coverage.Called > 0:
		return ""
	case r.Coverage.Tools == 0:
		return "the server lists no tools"
	case r.Coverage.Refusing == 0:
		return "no tool was called"
	default:
		return "no tool was called with arguments that it accepts"
	}
}
