package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/plural"
	"github.com/candor-mcp/candor/internal/probe"
)

// skipGroup is a list of items that were skipped for the same reason.
type skipGroup struct {
	what, reason string
	first        probe.Skip
	tools        []string
	count        int
}

// shownTools is the number of tools of a group that are named.
const shownTools = 8

// skipLines returns the skipped items, one line for all tools with the same reason: otherwise a server without
// annotations would fill the page.
func skipLines(skipped []probe.Skip) []string {
	var groups []*skipGroup
	for _, s := range skipped {
		what, reason := s.What, s.Reason
		if s.Tool != "" {
			reason = strings.ReplaceAll(reason, "--allow "+s.Tool, "--allow NAME")
		}
		if s.Tool != "" && strings.Contains(what, "/"+s.Tool) { // the key of a case
			what = "case"
		}
		i := slices.IndexFunc(groups, func(g *skipGroup) bool { return g.what == what && g.reason == reason && g.first.Tool != "" })
		if i < 0 || s.Tool == "" {
			groups = append(groups, &skipGroup{what: what, reason: reason, first: s})
			i = len(groups) - 1
		}
		g := groups[i]
		if g.count++; !slices.Contains(g.tools, s.Tool) {
			g.tools = append(g.tools, s.Tool)
		}
	}
	lines := make([]string, len(groups))
	for i, g := range groups {
		lines[i] = g.text()
	}
	return lines
}

func (g *skipGroup) text() string {
	if g.count == 1 {
		return skipText(g.first)
	}
	names := make([]string, min(len(g.tools), shownTools))
	for i := range names {
		names[i] = plain(g.tools[i])
	}
	who := strings.Join(names, ", ")
	if more := len(g.tools) - len(names); more > 0 {
		who += fmt.Sprintf(" and %d more", more)
	}
	what := plain(g.what)
	if g.what == "case" {
		what = plural.Of(g.count, "case")
	}
	return fmt.Sprintf("%s, %s: %s", who, what, plain(g.reason))
}

func skipText(s probe.Skip) string {
	where := ""
	if s.Tool != "" {
		where = plain(s.Tool) + ", "
	}
	return fmt.Sprintf("%s%s: %s", where, plain(s.What), plain(s.Reason))
}

// howOften returns the number of cases of a finding, "" if its message has it.
func howOften(f *probe.Finding) string {
	if cases := plural.Of(f.Count, "case"); f.Count > 1 && !strings.Contains(f.Message, cases) {
		return cases + " show it"
	}
	return ""
}

// coverageText returns how the tools were called, and which clients show their failures; "" for a report without coverage.
func coverageText(r *probe.Report) string {
	return strings.TrimSpace(calledText(r) + " " + visibleText(r))
}

// visibleText returns how many clients show the failures of the tools, "" if none was reported.
func visibleText(r *probe.Report) string {
	if r.Clients == 0 {
		return ""
	}
	said := fmt.Sprintf("Every failure of a tool is visible in %d of %s.", r.Clients-len(r.HiddenFrom), plural.Of(r.Clients, "client"))
	if len(r.HiddenFrom) > 0 {
		said = fmt.Sprintf("%s; %d hidden from %s.", strings.TrimSuffix(said, "."), r.Hidden, plain(strings.Join(r.HiddenFrom, ", ")))
	}
	return said
}

func calledText(r *probe.Report) string {
	c := r.Coverage
	if c.Tools == 0 {
		return incompleteText(r)
	}
	said := fmt.Sprintf("Called: %d of %s with valid arguments", c.Called, plural.Of(c.Tools, "tool"))
	if c.Refusing > 0 {
		said += fmt.Sprintf(", %d only with invalid arguments", c.Refusing)
	}
	if c.LeftOut > 0 {
		said += fmt.Sprintf(", %d not at all", c.LeftOut)
	}
	return strings.TrimSpace(said + ". " + incompleteText(r))
}

func incompleteText(r *probe.Report) string {
	if r.GradeIncomplete == "" {
		return ""
	}
	return "The grade is incomplete: " + plain(r.GradeIncomplete) + "."
}
