package judge

import (
	"slices"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// rule is a rule with what finds it. One of each and across is set: each looks at one case, across at all cases of a tool.
type rule struct {
	probe.Rule

	each   func(s *sight) (what string, bad bool)
	across func(p *party) []hit
	// compares says that the cases break the rule only together: what they have in common with those of another tool is no cause.
	compares bool
}

// hit is a case that shows something wrong.
type hit struct {
	s    *sight
	what string // completes a sentence that begins with the tool's name
	// unmendable says that here the gateway cannot help, though the rule is of those that it can mend.
	unmendable bool
}

// all are the rules in the order of their ids. Ids are never given twice: baselines and mutes refer to them.
var all = slices.Concat(truthRules, protocolRules, codeRules, retryRules, fieldRules, hygieneRules, lifeRules, misuseRules, upstreamRules, dialectRules, driftRules)

// Rules returns all rules, by id. The caller owns the slice and everything in it.
func Rules() []probe.Rule { return rulesOf("") }

// rulesOf are the rules of a set, all for "".
func rulesOf(set string) []probe.Rule {
	var out []probe.Rule
	for _, r := range all {
		if set == "" || slices.Contains(r.Sets, set) {
			own := r.Rule
			own.Sets = slices.Clone(r.Sets)
			out = append(out, own)
		}
	}
	slices.SortFunc(out, func(a, b probe.Rule) int { return compareText(a.ID, b.ID) })
	return out
}

// look returns the cases of a party that break the rule.
func (r *rule) look(p *party) []hit {
	if r.across != nil {
		return r.across(p)
	}
	var out []hit
	if r.each != nil {
		for _, s := range p.sights {
			if what, bad := r.each(s); bad {
				out = append(out, hit{s: s, what: what})
			}
		}
	}
	return out
}
