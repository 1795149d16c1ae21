package judge

import (
	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// truthRules: a failure says that it is one.
var truthRules = []rule{
	{Rule: probe.Rule{ID: "EC001", Title: "Failure told as prose in a success", Severity: probe.SeverityCritical, Sets: everySet, Outside: true,
		Reason: "Without isError a client treats the sentence as the result, and an agent builds on it: 197 of 5,833 recorded calls did this.",
		Clause: "MCP 2025-11-25, Server Features, Tools, Error Handling: tool execution errors are reported with isError: true",
		Fix:    "Set isError to true wherever the tool could not do what it was asked."},
		each: func(s *sight) (string, bool) {
			return "tells a failure as prose in a success", s.label() == LabelMaskedText
		}},
	{Rule: probe.Rule{ID: "EC002", Title: "Failure told as data of a success", Severity: probe.SeverityCritical, Sets: everySet, Outside: true,
		Reason: "A client that looks at isError sees a success; ok:false inside is read by those who know the server and by nobody else.",
		Clause: "MCP 2025-11-25, Server Features, Tools, Error Handling: tool execution errors are reported with isError: true",
		Fix:    "Set isError to true beside the error object, and leave the object as it is."},
		each: func(s *sight) (string, bool) {
			return "tells a failure as JSON in a success", s.label() == LabelMaskedJSON
		}},
	{Rule: probe.Rule{ID: "EC003", Title: "Two ways to fail in one tool", Severity: probe.SeverityMinor, Sets: agentSets, Outside: true,
		Reason: "Who reads one of the ways misses the failures that are told in the other.",
		Clause: "Evidence: the audit of a dual-envelope surface, where a client written for one form misreads half of the tools",
		Fix:    "Tell every failure of the tool in one form."},
		across: mixes, compares: true},
	{Rule: probe.Rule{ID: "EC023", Title: "Ran in spite of invalid input", Severity: probe.SeverityMajor, Sets: everySet, Outside: true,
		Reason: "What was asked for is not what was done, and nobody is told.",
		Clause: "MCP 2025-11-25, Server Features, Tools, Security Considerations: servers MUST validate all tool inputs",
		Fix:    "Check the arguments against the tool's own schema before anything else."},
		each: func(s *sight) (string, bool) {
			if s.Case.Group != probe.GroupValidation || s.Case.Expect != probe.ExpectRefusal || !s.answered() {
				return "", false
			}
			if s.wentOn() {
				return "turns to its upstream with arguments that its own schema refuses", true
			}
			what := "accepts arguments that its own schema refuses"
			if !s.fixable() && s.Case.Name != probe.CaseArgsAbsent {
				what = "accepts arguments that are no object"
			}
			return what, s.label() == LabelSilent || s.label() == LabelExtraAllowed
		}},
	{Rule: probe.Rule{ID: "EC034", Title: "Failure of the upstream swallowed", Severity: probe.SeverityCritical, Sets: everySet,
		Reason: "The service behind the tool refused or was down, and the tool reports success: what was not done looks done.",
		Clause: "MCP 2025-11-25, Server Features, Tools, Error Handling: API failures are tool execution errors",
		Fix:    "Look at the status of every answer of the upstream, and fail when it failed."},
		each: func(s *sight) (string, bool) {
			return "reports success though its upstream failed", s.Case.Group == probe.GroupUpstream && s.label() == LabelSilent
		}},
	{Rule: probe.Rule{ID: "EC035", Title: "Garbage of the upstream passed on as a result", Severity: probe.SeverityCritical, Sets: agentSets,
		Reason: "A captive portal or a broken proxy answers 200 with a page; an agent takes it, or the emptiness made of it, for the truth.",
		Clause: "Evidence: 57 of 159 recorded calls against an upstream that answered 200 with a page",
		Fix:    "Check that the answer of the upstream is of the type and the form that was asked for."},
		each: func(s *sight) (string, bool) {
			return "takes a page of its upstream for an answer", s.label() == LabelGarbage && !s.wantsPage()
		}},
	{Rule: probe.Rule{ID: "EC036", Title: "Request accepted that had to be refused", Severity: probe.SeverityMinor, Sets: everySet,
		Reason: "An empty result for what does not exist cannot be told from an empty one for what does.",
		Clause: "MCP 2025-11-25, Logging, Completion, Prompts, Pagination: servers SHOULD return -32602 for an invalid level, prompt or cursor; Resources: an error for one that is not found",
		Fix:    "Answer with a JSON-RPC error."},
		each: func(s *sight) (string, bool) {
			return "answers " + s.Case.Name + " as if all were well", s.Case.Group == probe.GroupProtocol && s.Case.Expect == probe.ExpectRefusal && s.label() == LabelSilent
		}},
}

// wantsPage reports a call that names an address: whatever is found there may be what was asked for.
func (s *sight) wantsPage() bool { return address.Match(s.arguments().Raw()) }

var address = lazyregexp.New(`"https?:`)

// mixes: a JSON-RPC error is left out, because the protocol wants one where the call itself is malformed.
func mixes(p *party) []hit {
	first := map[probe.Pattern]*sight{}
	var order []probe.Pattern
	for _, s := range p.sights {
		way, _ := s.pattern()
		if !s.told() || way == probe.PatternRPC || first[way] != nil || s.facts().own != nil {
			continue
		}
		first[way] = s
		order = append(order, way)
	}
	if len(order) < 2 {
		return nil
	}
	out := make([]hit, len(order))
	what := "tells its failures in several ways:"
	for i, way := range order {
		if i > 0 {
			what += ","
		}
		what += " " + string(way)
	}
	for i, way := range order {
		out[i] = hit{s: first[way], what: what}
	}
	return out
}
