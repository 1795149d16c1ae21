package judge

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/probe"
)

// cause is what several tools have in common that break a rule: they fail in the same words, as all tools of a server do whose browser is
// not installed.
type cause struct {
	rule  *rule
	words string
}

// shared is a cause with the tools and the cases that show it.
type shared struct {
	cause
	dockets []*docket
	hits    []hit
}

// joined returns the findings of all parties. Those with one cause are one finding, with the tools that show it. Grades do not depend on that.
func joined(dockets []*docket) []probe.Finding {
	byCause, order := causes(dockets)
	var out []probe.Finding
	for _, c := range order {
		if s := byCause[c]; len(s.dockets) > 1 {
			out = append(out, s.finding())
		}
	}
	for _, d := range dockets {
		for _, b := range d.found {
			left := slices.DeleteFunc(slices.Clone(b.hits), func(h hit) bool {
				s := byCause[d.causeOf(b.rule, h)]
				return s != nil && len(s.dockets) > 1
			})
			if len(left) > 0 {
				out = append(out, finding(b.rule, d.party, left))
			}
		}
	}
	return out
}

// causes groups the cases that break a rule by what they have in common, in the order in which they come.
func causes(dockets []*docket) (byCause map[cause]*shared, order []cause) {
	byCause = map[cause]*shared{}
	for _, d := range dockets {
		for _, b := range d.found {
			for _, h := range b.hits {
				c := d.causeOf(b.rule, h)
				if c.words == "" {
					continue
				}
				s := byCause[c]
				if s == nil {
					s = &shared{cause: c}
					byCause[c] = s
					order = append(order, c)
				}
				if !slices.Contains(s.dockets, d) {
					s.dockets = append(s.dockets, d)
				}
				s.hits = append(s.hits, h)
			}
		}
	}
	return byCause, order
}

// causeOf is what a case may have in common with cases of other tools. It has no words where the case stands for itself: it belongs to no tool,
// does not fail in words, or breaks the rule only together with others.
func (d *docket) causeOf(r *rule, h hit) cause {
	if r.each == nil || d.party.name == "" || !h.s.told() {
		return cause{}
	}
	return cause{r, h.s.commonWords()}
}

var (
	numbers = regexp.MustCompile(`[0-9]+`)
	spaces  = regexp.MustCompile(`\s+`)
)

// commonWords are the words of a failure without what differs between the tools of a server: their names, the arguments and their values,
// and numbers.
func (s *sight) commonWords() string {
	if s.common != "" {
		return s.common
	}
	text := cut(s.text())
	own := []string{s.Case.Tool}
	for key, v := range s.arguments().Members() {
		name, _ := key.Str()
		value, _ := v.Str()
		own = append(own, name, value)
	}
	if s.tool != nil {
		for key := range schemaOf(s.tool).Path("properties").Members() {
			name, _ := key.Str()
			own = append(own, name)
		}
	}
	slices.SortFunc(own, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for _, word := range slices.Compact(own) {
		if len(word) > 1 {
			text = strings.ReplaceAll(text, word, "…")
		}
	}
	s.common = spaces.ReplaceAllString(numbers.ReplaceAllString(text, "#"), " ")
	return s.common
}

// namedTools is how many tools a message names.
const namedTools = 3

func (s *shared) finding() probe.Finding {
	r := s.rule
	f := probe.Finding{Rule: r.ID, Severity: r.Severity, Fix: r.Fix, Outside: r.Outside, Count: len(s.hits)}
	for _, d := range s.dockets {
		f.Tools = append(f.Tools, d.party.name)
		f.Outside = f.Outside && !slices.ContainsFunc(s.hits, func(h hit) bool { return h.unmendable || h.s.Case.Tool == d.party.name && d.party.guesses(h.s) })
	}
	for _, h := range s.hits[:min(len(s.hits), shownCases)] {
		f.Evidence = append(f.Evidence, evidence(h.s))
	}
	named := make([]string, 0, namedTools)
	for _, tool := range f.Tools[:min(len(f.Tools), namedTools)] {
		named = append(named, contract.Bound(tool, shownName))
	}
	who := strings.Join(named, ", ")
	if more := len(f.Tools) - len(named); more > 0 {
		who += fmt.Sprintf(" and %d more", more)
	}
	f.Message = sentence(fmt.Sprintf("Each of %d tools (%s)", len(f.Tools), who), s.hits)
	return f
}
