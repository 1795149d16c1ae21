package judge

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor/probe"
)

// party is who is judged: a tool, or the protocol, which is the server apart from its tools.
type party struct {
	name   string // "" for the protocol
	tool   *probe.Tool
	sights []*sight
	set    string
}

// parties are the protocol first, then the tools by name. Cases of tools that the server does not list are the tools' own all the same.
func parties(run *probe.Run, set string) []*party {
	byName := map[string]*party{"": {set: set}}
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
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *party) int { return compareText(a.name, b.name) })
	return out
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
