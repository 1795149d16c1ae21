package judge

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/contract"
)

const shownCodes = 32 // of one tool; a server may send as many as it likes

// row is the party's row of the inventory.
func (d *docket) row() probe.ToolReport {
	p := d.party
	r := probe.ToolReport{Tool: p.name, Cases: len(p.sights), Failures: p.failures(), Patterns: map[probe.Pattern]int{}, Findings: len(d.findings),
		Kinds: []string{}, Codes: []string{}}
	for _, s := range p.sights {
		if way, ok := s.pattern(); ok {
			r.Patterns[way]++
		}
		if !s.told() {
			continue
		}
		r.Dialects = with(r.Dialects, s.facts().dialect)
		r.Kinds = with(r.Kinds, s.kinds()...)
		for _, c := range s.facts().codes {
			if len(r.Codes) < shownCodes {
				r.Codes = with(r.Codes, contract.Bound(c.value, shownName))
			}
		}
		if s.leaksSecret() || s.leaksPlace() {
			r.Leaks++
		}
	}
	slices.Sort(r.Dialects)
	slices.Sort(r.Kinds)
	slices.Sort(r.Codes)
	r.Retry, r.Field = p.retry(), p.field()
	if d.unjudged {
		r.Skipped = "no case failed, so there is nothing to judge"
		return r
	}
	t := d.tally(nil)
	r.Grade, r.Score = t.grade(), t.score()
	r.Raise = raise([]*docket{d})
	return r
}

// kinds are where the failure has codes.
func (s *sight) kinds() []string {
	var out []string
	for _, c := range s.facts().codes {
		out = with(out, c.kind)
	}
	if len(out) == 0 {
		return []string{kindNone}
	}
	return out
}

// retry says whether there is advice where it is needed.
func (p *party) retry() string {
	asked, given := 0, 0
	for _, s := range p.sights {
		if s.passing() {
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

// field says whether the bad argument is named.
func (p *party) field() string {
	asked, given := 0, 0
	for _, s := range p.sights {
		if s.refusesArguments() && len(s.culprits()) > 0 {
			asked++
			if s.namedCulprits() > 0 {
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

// with adds what is not there yet, and not empty.
func with(list []string, more ...string) []string {
	for _, m := range more {
		if strings.TrimSpace(m) != "" && !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}
