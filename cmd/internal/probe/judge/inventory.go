package judge

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/contract"
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
		r.Kinds = appendNew(r.Kinds, s.kinds()...)
		for _, c := range s.facts().codes {
			if len(r.Codes) < shownCodes {
				r.Codes = appendNew(r.Codes, contract.Bound(c.value, shownName))
			}
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

// kinds returns the kinds of the failure's codes.
func (s *caseResult) kinds() []string {
	var out []string
	for _, c := range s.facts().codes {
		out = appendNew(out, c.kind)
	}
	if len(out) == 0 {
		return []string{kindNone}
	}
	return out
}

// retry reports whether the temporary failures have retry advice: yes, no, or n/a.
func (p *subject) retry() string {
	asked, given := 0, 0
	for _, s := range p.results {
		if s.isTemporary() {
			asked++
			if s.facts().retry {
				given++
			}
		}
	}
	switch {
	case asked == 0:
		return "n/a"
	case asked == given:
		return "yes"
	default:
		return "no"
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

// appendNew appends the texts that are not empty and not yet in the list.
func appendNew(list []string, more ...string) []string {
	for _, m := range more {
		if strings.TrimSpace(m) != "" && !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
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

// gradeIncomplete returns why the grade of a report has little meaning. It is "" if there is no grade or it is meaningful.
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
