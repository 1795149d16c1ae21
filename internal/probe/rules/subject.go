package rules

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/probe"
)

// subject is the subject of a grade: a tool, or the protocol, which is the server without its tools.
type subject struct {
	name    string // "" for the protocol
	tool    *probe.Tool
	results []*caseResult
	set     string
	// greeting is the handshake. Only the protocol has it, and only if it is in the run.
	greeting []*caseResult
	// idle is set if the upstream was made to fail and the tool never sent it a request.
	idle bool
}

// subjectsOf returns the subjects of a run: the protocol, then the tools by name. A tool that the server does not list is a subject if it has cases.
func subjectsOf(run *probe.Run, set string) []*subject {
	byName := map[string]*subject{"": {set: set}}
	if run.Greeting.Request != "" {
		byName[""].greeting = []*caseResult{view(&run.Greeting, nil)}
	}
	for i := range run.Tools {
		t := &run.Tools[i]
		if byName[t.Name] == nil {
			byName[t.Name] = &subject{name: t.Name, tool: t, set: set}
		}
	}
	for i := range run.Observations {
		o := &run.Observations[i]
		p := byName[o.Case.Tool]
		if p == nil {
			p = &subject{name: o.Case.Tool, set: set}
			byName[o.Case.Tool] = p
		}
		s := view(o, p.tool)
		s.server, s.set = &run.Server, set
		p.results = append(p.results, s)
	}
	out := make([]*subject, 0, len(byName))
	for _, p := range byName {
		p.dropUnasked()
		p.compare()
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *subject) int { return strings.Compare(a.name, b.name) })
	return out
}

// dropUnasked removes the upstream cases in which the tool answered without a request to the upstream: they do not show how it handles the fault.
// A tool with a database, for example, finds a closed port instead of a 401.
func (p *subject) dropUnasked() {
	asks := slices.ContainsFunc(p.results, func(s *caseResult) bool { return s.Case.Fault != "" && s.Hits > 0 })
	kept := slices.DeleteFunc(slices.Clone(p.results), func(s *caseResult) bool {
		return s.Case.Fault != "" && s.Hits == 0 && s.Outcome == probe.OutcomeAnswered
	})
	p.idle = !asks && len(kept) < len(p.results)
	p.results = kept
}

// compare gives every case a reference to the case with valid arguments.
func (p *subject) compare() {
	at := slices.IndexFunc(p.results, func(s *caseResult) bool { return s.Case.Group == probe.GroupDomain && s.Case.Again == 0 })
	for _, s := range p.results {
		if at >= 0 && s != p.results[at] {
			s.sound = p.results[at]
		}
	}
}

func (p *subject) failures() int {
	return len(slices.DeleteFunc(slices.Clone(p.results), func(s *caseResult) bool { return !s.failed() }))
}
