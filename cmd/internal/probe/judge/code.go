package judge

import (
	"slices"
	"strings"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// codeRules: a program can tell failures apart.
var codeRules = []rule{
	{Rule: probe.Rule{ID: "EC010", Title: "No machine code", Severity: probe.SeverityMajor, Sets: agentSets, Outside: true,
		Reason: "What is only told in prose is told apart by regular expressions, which break with the next wording.",
		Clause: "AIP-193: the message is for people, ErrorInfo.reason is for programs; evidence: of 4,785 recorded failures 104 have a code in JSON and 14 a symbol in their text",
		Fix:    "Put a stable code in a member of the error, or as the first token of its text."},
		each: func(s *sight) (string, bool) {
			_, has := s.facts().machineCode()
			return "fails without a code that a program could go by", s.told() && !has
		}},
	{Rule: probe.Rule{ID: "EC011", Title: "Same fault, another code", Severity: probe.SeverityMajor, Sets: agentSets,
		Reason: "Whoever counts failures, or decides by the code, is wrong half of the time.",
		Clause: "Evidence: schema libraries that stop at the first issue in the order of a map give four messages for one input",
		Fix:    "Derive the code from the fault alone, and sort what is reported."},
		across: unstable, compares: true},
	{Rule: probe.Rule{ID: "EC032", Title: "Faults of the upstream cannot be told apart", Severity: probe.SeverityMajor, Sets: agentSets, Outside: true,
		Reason: "A wrong key, a wrong name and a full quota ask for three different next steps.",
		Clause: "SEP-2678, review: permission, timeout and rate limit need different behaviour of the client",
		Fix:    "Give 401, 404 and 429 of the upstream a code each."},
		across: confuses, compares: true},
	{Rule: probe.Rule{ID: "EC038", Title: "Code that was not declared", Severity: probe.SeverityMajor, Sets: agentSets,
		Reason: "Who handled every declared code is surprised.",
		Clause: "The tool's own _meta[\"dev.candor/codes\"]",
		Fix:    "Declare the code, or use one that is declared."},
		each: func(s *sight) (string, bool) {
			c, has := s.facts().machineCode()
			if s.tool == nil || len(s.tool.Codes) == 0 || !s.told() || !has || c.kind == kindNumber {
				return "", false
			}
			return "fails with a code that it does not declare", !slices.ContainsFunc(s.tool.Codes, func(declared string) bool { return sameCode(declared, c.value) })
		}},
}

// sameCode: a code may be declared with its domain.
func sameCode(declared, said string) bool {
	return declared == said || strings.HasSuffix(declared, "/"+said) || strings.HasSuffix(said, "/"+declared)
}

// identity is what a program goes by; the same for all failures without a code.
func (s *sight) identity() string {
	c, _ := s.facts().machineCode()
	return c.kind + ":" + c.value
}

func unstable(p *party) []hit {
	first := map[string]*sight{}
	for _, s := range p.sights {
		if s.Case.Again == 0 {
			first[s.Case.Key()] = s
		}
	}
	var out []hit
	for _, s := range p.sights {
		once := s.Case
		once.Again = 0
		before := first[once.Key()]
		if s.Case.Again == 0 || before == nil || !s.told() || !before.told() || s.identity() == before.identity() {
			continue
		}
		what := "answers the same fault with another code"
		out = append(out, hit{s: before, what: what}, hit{s: s, what: what})
	}
	return out
}

// confuses looks at the three faults that ask for three different next steps. Failures without any code are another rule's.
func confuses(p *party) []hit {
	var seen []*sight
	for _, name := range []string{probe.CaseUpstream401, probe.CaseUpstream404, probe.CaseUpstream429} {
		for _, s := range p.sights {
			if _, coded := s.facts().machineCode(); s.Case.Name == name && s.Case.Again == 0 && s.told() && coded {
				seen = append(seen, s)
				break
			}
		}
	}
	for i, a := range seen {
		for _, b := range seen[i+1:] {
			if a.identity() == b.identity() {
				what := "answers " + a.Case.Name + " and " + b.Case.Name + " with the same code"
				lost := a.guess() == b.guess() // the words do not tell them apart either
				return []hit{{s: a, what: what, unmendable: lost}, {s: b, what: what, unmendable: lost}}
			}
		}
	}
	return nil
}

// guess is the code that the contract infers.
func (s *sight) guess() string {
	if s.reading.Error == nil {
		return ""
	}
	return s.reading.Error.Code().String()
}
