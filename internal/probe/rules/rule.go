package rules

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/probe"
)

// rule is a rule with its check, which is one of when, each and across.
type rule struct {
	probe.Rule

	when   func(s *caseResult) bool // checks one case
	what   string                   // see [hit]; the word CASE is replaced by the name of the case
	each   func(s *caseResult) (what string, bad bool)
	across func(p *subject) []hit // checks all cases of a subject
	// compares is set if cases break the rule only together. Such a rule is not shared between tools; see [mergeFindings].
	compares bool
}

// hit is a case that breaks a rule.
type hit struct {
	s    *caseResult
	what string // the rest of a sentence that begins with the tool's name
	// beyondGateway is set if the gateway cannot fix this case, although it can fix others that break the rule.
	beyondGateway bool
}

// allRules has every rule. An id is never reused, because baselines and mutes refer to it.
var allRules = slices.Concat(maskingRules, protocolRules, codeRules, retryRules, fieldRules, hygieneRules, livenessRules, misuseRules, upstreamRules, dialectRules, driftRules)

// Rules returns all rules, sorted by id. The caller owns the slice and its elements.
func Rules() []probe.Rule { return rulesOf("") }

// Get returns the rule with an id, an empty one for an unknown id.
func Get(id string) probe.Rule {
	if r := byID(id); r != nil {
		return r.Rule
	}
	return probe.Rule{}
}

func byID(id string) *rule {
	for i := range allRules {
		if allRules[i].ID == id {
			return &allRules[i]
		}
	}
	return nil
}

// Find returns how one answer breaks the rule with an id, "" if it does not. The rule must be one that needs no other answers.
func Find(id string, server *probe.Server, tool *probe.Tool, o *probe.Observation) string {
	result := view(o, tool)
	result.server, result.set = server, SetCandor
	for _, h := range byID(id).look(&subject{name: tool.Name, tool: tool, results: []*caseResult{result}, set: SetCandor}) {
		return "it " + h.what
	}
	return ""
}

// rulesOf returns the rules of a set, all rules for "".
func rulesOf(set string) []probe.Rule {
	var out []probe.Rule
	for _, r := range allRules {
		if set == "" || slices.Contains(r.Sets, set) {
			own := r.Rule
			own.Sets = slices.Clone(r.Sets)
			out = append(out, own)
		}
	}
	slices.SortFunc(out, func(a, b probe.Rule) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// look returns the cases of a subject that break the rule.
func (r *rule) look(p *subject) []hit {
	if r.across != nil {
		return r.across(p)
	}
	var out []hit
	for _, s := range p.results {
		if r.when != nil && r.when(s) {
			out = append(out, hit{s: s, what: strings.Replace(r.what, "CASE", s.Case.Name, 1)})
		} else if r.each != nil {
			if what, bad := r.each(s); bad {
				out = append(out, hit{s: s, what: what})
			}
		}
	}
	return out
}

// The rule sets.
const (
	SetSpec     = "spec"     // only the MCP specification
	SetAgent    = "agent"    // the requirements of an agent for continuing after a failure; the default
	SetKaiza    = "kaiza"    // agent, and every tool failure is in the dialect system-error
	SetWorkrail = "workrail" // agent, and tool-error
	SetRPC      = "rpc"      // agent, and rpc
	SetDual     = "dual"     // agent, and dual or dual-unified
	SetCandor   = "candor"   // agent, and the canonical error is attached to every failure
)

// Sets returns the names of the rule sets. The caller owns the slice.
func Sets() []string {
	return []string{SetSpec, SetAgent, SetKaiza, SetWorkrail, SetRPC, SetDual, SetCandor}
}

var (
	everySet   = Sets()
	agentSets  = Sets()[1:]
	dialectSet = []string{SetKaiza, SetWorkrail, SetRPC, SetDual}
	candorSet  = []string{SetCandor}
	// notRPC is without rpc: a server with the numeric taxonomy sends every failure as a JSON-RPC error.
	notRPC = []string{SetSpec, SetAgent, SetKaiza, SetWorkrail, SetDual, SetCandor}
)
