package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/contract"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// shared is a rule that several tools break for one cause: they fail in the same words, as all tools of a server do whose browser is not
// installed.
type shared struct {
	rule    *rule
	dockets []*docket
	hits    []hit // of all of them
}

// joined returns the findings of all parties. Tools that break a rule for one cause have one finding together, so that every tool has a rule in
// one finding at most. Grades do not depend on it.
func joined(dockets []*docket) []probe.Finding {
	var out []probe.Finding
	for i := range all {
		for _, s := range groupsOf(&all[i], dockets) {
			if len(s.dockets) > 1 {
				out = append(out, s.finding())
			} else {
				out = append(out, finding(s.rule, s.dockets[0].party, s.hits))
			}
		}
	}
	return out
}

// groupsOf groups the parties that break a rule. Two are in one group if a failure of the one and a failure of the other have the same words.
func groupsOf(r *rule, dockets []*docket) []*shared {
	var groups []*shared
	byWords := map[string]*shared{}
	for _, d := range dockets {
		at := slices.IndexFunc(d.found, func(b breach) bool { return b.rule == r })
		if at < 0 {
			continue
		}
		own := &shared{rule: r, dockets: []*docket{d}}
		groups = append(groups, own)
		for _, words := range d.words(r, d.found[at].hits) {
			if other := byWords[words]; other != nil && other != own {
				other.dockets = append(other.dockets, own.dockets...)
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
		slices.SortFunc(g.dockets, func(a, b *docket) int { return compareText(a.party.name, b.party.name) })
		for _, d := range g.dockets {
			g.hits = append(g.hits, d.found[slices.IndexFunc(d.found, func(b breach) bool { return b.rule == r })].hits...)
		}
	}
	return groups
}

// words are what the cases that break a rule may have in common with cases of other tools. There are none of the server as a whole, and none
// where nothing was said.
func (d *docket) words(r *rule, hits []hit) (out []string) {
	if r.compares || d.party.name == "" {
		return nil
	}
	for _, h := range hits {
		if h.s.told() {
			out = append(out, h.s.commonWords()...)
		}
	}
	return out
}

var (
	numbers = lazyregexp.New(`[0-9]+`)
	spaces  = lazyregexp.New(`\s+`)
)

// commonWords are the words of a failure without what differs between the tools of a server: their names, the values of arguments, and
// numbers. A second text is without the names of arguments, too, which may also be words of a failure that is about something else.
func (s *sight) commonWords() []string {
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
		text := numbers.ReplaceAllString(without(cut(s.text()), values), "#")
		s.common = []string{spaces.ReplaceAllString(text, " "), spaces.ReplaceAllString(without(text, names), " ")}
	}
	return s.common
}

// without replaces words in a text, the longest first.
func without(text string, words []string) string {
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	for _, word := range slices.Compact(words) {
		if len(word) > 1 {
			text = strings.ReplaceAll(text, word, "…")
		}
	}
	return text
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
	for _, h := range unlike(s.hits) {
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

// unlike returns the first cases to show, those with different words before others.
func unlike(hits []hit) []hit {
	var first, rest []hit
	seen := map[string]bool{}
	for _, h := range hits {
		if words := h.s.commonWords()[1]; !seen[words] {
			seen[words] = true
			first = append(first, h)
		} else {
			rest = append(rest, h)
		}
	}
	first = append(first, rest...)
	return first[:min(len(first), shownCases)]
}
