package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor"
	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/probe"
)

// shared is a rule that a subject breaks, or that several tools break for the same reason: they fail with the same text, as when the
// browser that all tools of a server need is not installed.
type shared struct {
	rule        *rule
	assessments []*assessment
	hits        []hit // of all tools
}

// mergeFindings returns the findings of all subjects. Tools that break a rule for the same reason share one finding, so a tool appears in at most
// one finding per rule. Grades do not depend on it.
func mergeFindings(assessments []*assessment) []probe.Finding {
	var out []probe.Finding
	for i := range allRules {
		for _, s := range groupsOf(&allRules[i], assessments) {
			out = append(out, s.finding())
		}
	}
	return out
}

// groupsOf groups the subjects that break a rule. Two are in one group if a failure of one has the same text as a failure of the other.
func groupsOf(r *rule, assessments []*assessment) []*shared {
	var groups []*shared
	byWords := map[string]*shared{}
	for _, d := range assessments {
		hits := d.hits(r)
		if hits == nil {
			continue
		}
		own := &shared{rule: r, assessments: []*assessment{d}}
		groups = append(groups, own)
		for _, words := range d.words(r, hits) {
			if other := byWords[words]; other != nil && other != own {
				other.assessments = append(other.assessments, own.assessments...)
				groups = slices.DeleteFunc(groups, func(g *shared) bool { return g == own })
				for known, g := range byWords {
					if g == own {
						byWords[known] = other
					}
				}
				own = other
			}
			byWords[words] = own
		}
	}
	for _, g := range groups {
		slices.SortFunc(g.assessments, func(a, b *assessment) int { return strings.Compare(a.subject.name, b.subject.name) })
		for _, d := range g.assessments {
			g.hits = append(g.hits, d.hits(r)...)
		}
	}
	return groups
}

// hits returns the cases that break a rule.
func (d *assessment) hits(r *rule) []hit {
	for _, v := range d.found {
		if v.rule == r {
			return v.hits
		}
	}
	return nil
}

// words returns the texts by which the cases that break a rule are compared with cases of other tools. Cases of the server as a whole and
// cases without a reported failure have no such texts.
func (d *assessment) words(r *rule, hits []hit) (out []string) {
	if r.compares || d.subject.name == "" {
		return nil
	}
	for _, h := range hits {
		if h.s.reported() {
			out = append(out, h.s.commonWords()...)
		}
	}
	return out
}

var (
	numbers = lazyregexp.New(`[0-9]+`)
	spaces  = lazyregexp.New(`\s+`)
)

// commonWords returns the text of a failure without the parts that differ between the tools of a server: tool names, argument values and
// numbers. The second text is also without argument names, which may be ordinary words in a failure about something else.
func (s *caseResult) commonWords() []string {
	if s.common == nil {
		values, names := []string{s.Case.Tool}, []string(nil)
		for key, v := range s.arguments().Members() {
			name, _ := key.Str()
			value, _ := v.Str()
			values, names = append(values, value), append(names, name)
		}
		if s.tool != nil {
			for key := range schemaOf(s.tool).Path("properties").Members() {
				name, _ := key.Str()
				names = append(names, name)
			}
		}
		text := numbers.ReplaceAllString(without(clip(s.text()), values), "#")
		s.common = []string{spaces.ReplaceAllString(text, " "), spaces.ReplaceAllString(without(text, names), " ")}
	}
	return s.common
}

// without replaces words in a text with an ellipsis, the longest first.
func without(text string, words []string) string {
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for _, word := range slices.Compact(words) {
		if len(word) > 1 {
			text = strings.ReplaceAll(text, word, "…")
		}
	}
	return text
}

// namedTools is the number of tools that a message names.
const namedTools = 3

func (s *shared) finding() probe.Finding {
	r := s.rule
	f := probe.Finding{Rule: r.ID, Severity: r.Severity, Fix: r.Fix, Outside: r.Outside, Count: len(s.hits)}
	for _, d := range s.assessments {
		f.Tools = append(f.Tools, d.subject.name)
		f.Outside = f.Outside && !slices.ContainsFunc(s.hits, func(h hit) bool {
			return h.beyondGateway || h.s.Case.Tool == d.subject.name && d.subject.isSuspected(h.s)
		})
	}
	for _, h := range s.hits[:min(len(s.hits), shownCases)] {
		f.Evidence = append(f.Evidence, evidence(h.s))
	}
	if len(f.Tools) == 1 {
		f.Tool, f.Tools, f.Field = f.Tools[0], nil, s.hits[0].s.Case.Field
		if slices.ContainsFunc(s.hits, func(h hit) bool { return h.s.Case.Field != f.Field }) {
			f.Field = "" // several arguments
		}
		start := "The server"
		if f.Tool != "" {
			start = candor.Public("Tool "+f.Tool, shownName)
		}
		f.Message = sentence(start, s.hits)
		return f
	}
	named := make([]string, 0, namedTools)
	for _, tool := range f.Tools[:min(len(f.Tools), namedTools)] {
		named = append(named, candor.Public(tool, shownName))
	}
	who := strings.Join(named, ", ")
	if more := len(f.Tools) - len(named); more > 0 {
		who += fmt.Sprintf(" and %d more", more)
	}
	f.Message = sentence(fmt.Sprintf("Each of %d tools (%s)", len(f.Tools), who), s.hits)
	return f
}
