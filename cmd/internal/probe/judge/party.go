package judge

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// party is who is judged: a tool, or the protocol, which is the server apart from its tools.
type party struct {
	name   string // "" for the protocol
	tool   *probe.Tool
	sights []*sight
	set    string
	// greeting is what came before all cases; of the protocol only, and nil in a run that does not hold it.
	greeting []*sight
	// idle says that the upstream was made to fail, and the tool never asked it.
	idle bool
}

// parties are the protocol first, then the tools by name. Cases of tools that the server does not list are the tools' own all the same.
func parties(run *probe.Run, set string) []*party {
	byName := map[string]*party{"": {set: set}}
	if run.Greeting.Request != "" {
		byName[""].greeting = []*sight{view(&run.Greeting, nil)}
	}
	for i := range run.Tools {
		t := &run.Tools[i]
		if byName[t.Name] == nil {
			byName[t.Name] = &party{name: t.Name, tool: t, set: set}
		}
	}
	for i := range run.Observations {
		o := &run.Observations[i]
		p := byName[o.Case.Tool]
		if p == nil {
			p = &party{name: o.Case.Tool, set: set}
			byName[o.Case.Tool] = p
		}
		s := view(o, p.tool)
		s.server, s.set = &run.Server, set
		p.sights = append(p.sights, s)
	}
	out := make([]*party, 0, len(byName))
	for _, p := range byName {
		p.leaveOut()
		p.compare()
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *party) int { return compareText(a.name, b.name) })
	return out
}

// leaveOut forgets the answers that were given while the upstream failed and was not asked: they say nothing about how it failed. A tool with
// a database behind it meets a port where nobody listens, and no 401. Recorded runs do not know which fault it was, nor who asked.
func (p *party) leaveOut() {
	asks := slices.ContainsFunc(p.sights, func(s *sight) bool { return s.Case.Fault != "" && s.Hits > 0 })
	kept := slices.DeleteFunc(slices.Clone(p.sights), func(s *sight) bool {
		return s.Case.Fault != "" && s.Hits == 0 && s.Outcome == probe.OutcomeAnswered
	})
	p.idle = !asks && len(kept) < len(p.sights)
	p.sights = kept
}

// compare lets every case know how the tool answered sound arguments.
func (p *party) compare() {
	at := slices.IndexFunc(p.sights, func(s *sight) bool { return s.Case.Group == probe.GroupDomain && s.Case.Again == 0 })
	for _, s := range p.sights {
		if at >= 0 && s != p.sights[at] {
			s.sound = p.sights[at]
		}
	}
}

// subject begins a sentence about the party.
func (p *party) subject() string {
	if p.name == "" {
		return "The server"
	}
	return "Tool " + p.name
}

func (p *party) failures() int {
	n := 0
	for _, s := range p.sights {
		if s.failed() {
			n++
		}
	}
	return n
}

func compareText(a, b string) int { return strings.Compare(a, b) }
