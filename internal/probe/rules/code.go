package rules

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor/internal/probe"
)

// codeRules check that a program can distinguish failures.
var codeRules = []rule{
	{Rule: probe.Rule{ID: "EC010", Title: "No machine code", Severity: probe.SeverityMajor, Sets: agentSets, Outside: true,
		Reason: "Failures without a code can only be told apart by regular expressions, which break when the wording changes.",
		Clause: "AIP-193: the message is for people, ErrorInfo.reason is for programs; evidence: of 4,785 recorded failures 104 have a code in JSON and 14 a symbol in their text",
		Fix:    "Put a stable code in a member of the error, or as the first token of its text."},
		what: "fails without a code that a program can read",
		when: func(s *caseResult) bool { _, has := s.facts().machineCode(); return s.reported() && !has }},
	{Rule: probe.Rule{ID: "EC011", Title: "Same fault, different code", Severity: probe.SeverityMajor, Sets: agentSets,
		Reason: "A program that counts failures or decides by the code gets it wrong half of the time.",
		Clause: "Evidence: schema libraries that stop at the first issue in the order of a map give four messages for one input",
		Fix:    "Derive the code from the fault alone, and report issues in a fixed order."},
		across: changesCode, compares: true},
	{Rule: probe.Rule{ID: "EC032", Title: "Upstream faults have the same code", Severity: probe.SeverityMajor, Sets: agentSets, Outside: true,
		Reason: "A wrong key, a wrong name and an exhausted quota need three different next steps.",
		Clause: "SEP-2678, review: permission, timeout and rate limit need different behaviour of the client",
		Fix:    "Use a different code for 401, 404 and 429 of the upstream."},
		across: confusesCodes, compares: true},
	{Rule: probe.Rule{ID: "EC038", Title: "Undeclared code", Severity: probe.SeverityMajor, Sets: agentSets,
		Reason: "A client that handles every declared code fails on this one.",
		Clause: "The tool's own _meta[\"dev.candor/codes\"]",
		Fix:    "Declare the code, or use one that is declared."},
		what: "fails with a code that it does not declare",
		when: func(s *caseResult) bool {
			c, has := s.facts().machineCode()
			return s.tool != nil && len(s.tool.Codes) > 0 && s.reported() && has && c.kind != kindNumber && !slices.ContainsFunc(s.tool.Codes, func(declared string) bool { return sameCode(declared, c.value) })
		}},
}

// sameCode reports whether two codes are the same. Either may have its domain as a prefix.
func sameCode(declared, said string) bool {
	return declared == said || strings.HasSuffix(declared, "/"+said) || strings.HasSuffix(said, "/"+declared)
}

// codeKey returns the code that a program reads. It is the same for all failures without a code.
func (s *caseResult) codeKey() string {
	c, _ := s.facts().machineCode()
	return c.kind + ":" + c.value
}

func changesCode(p *subject) []hit {
	first := map[string]*caseResult{}
	for _, s := range p.results {
		if s.Case.Again == 0 {
			first[s.Case.Key()] = s
		}
	}
	var out []hit
	for _, s := range p.results {
		once := s.Case
		once.Again = 0
		before := first[once.Key()]
		if s.Case.Again == 0 || before == nil || !s.reported() || !before.reported() || s.codeKey() == before.codeKey() {
			continue
		}
		what := "answers the same fault with a different code"
		out = append(out, hit{s: before, what: what}, hit{s: s, what: what})
	}
	return out
}

// confusesCodes compares the codes of the three faults that need different next steps. Failures without a code belong to another rule.
func confusesCodes(p *subject) []hit {
	var seen []*caseResult
	for _, name := range []string{probe.CaseUpstream401, probe.CaseUpstream404, probe.CaseUpstream429} {
		for _, s := range p.results {
			if _, coded := s.facts().machineCode(); s.Case.Name == name && s.Case.Again == 0 && s.reported() && coded {
				seen = append(seen, s)
				break
			}
		}
	}
	for i, a := range seen {
		for _, b := range seen[i+1:] {
			if a.codeKey() == b.codeKey() {
				what := "answers " + a.Case.Name + " and " + b.Case.Name + " with the same code"
				lost := a.inferredCode() == b.inferredCode() // the texts do not differ either
				return []hit{{s: a, what: what, beyondGateway: lost}, {s: b, what: what, beyondGateway: lost}}
			}
		}
	}
	return nil
}

// inferredCode returns the code that package contract infers.
func (s *caseResult) inferredCode() string {
	if s.reading.Error == nil {
		return ""
	}
	return s.reading.Error.Code().String()
}
