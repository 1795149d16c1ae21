package rules

import (
	"strings"

	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/probe"
)

// maskingRules check that failures are reported as failures.
var maskingRules = []rule{
	{Rule: probe.Rule{ID: "EC001", Title: "Failure reported as text in a success", Severity: probe.SeverityCritical, Sets: everySet, Outside: true,
		Reason: "Without isError a client takes the text for the result, and an agent relies on it: 197 of 5,833 recorded calls did this.",
		Clause: "MCP 2025-11-25, Server Features, Tools, Error Handling: tool execution errors are reported with isError: true",
		Fix:    "Set isError to true whenever the tool could not do what it was asked to do."},
		what: "reports a failure as text in a success",
		when: func(s *caseResult) bool { return s.label() == LabelMaskedText }},
	{Rule: probe.Rule{ID: "EC002", Title: "Failure reported as JSON in a success", Severity: probe.SeverityCritical, Sets: everySet, Outside: true,
		Reason: "A client that reads isError sees a success; only a client written for this server reads ok:false.",
		Clause: "MCP 2025-11-25, Server Features, Tools, Error Handling: tool execution errors are reported with isError: true",
		Fix:    "Set isError to true, and keep the error object as it is."},
		what: "reports a failure as JSON in a success",
		when: func(s *caseResult) bool { return s.label() == LabelMaskedJSON }},
	{Rule: probe.Rule{ID: "EC003", Title: "Several error formats in one tool", Severity: probe.SeverityMinor, Sets: agentSets, Outside: true,
		Reason: "A client that reads one format misses the failures in the other.",
		Clause: "Evidence: the audit of a dual-envelope surface, where a client written for one form misreads half of the tools",
		Fix:    "Report every failure of the tool in one format."},
		across: mixesFormats, compares: true},
	{Rule: probe.Rule{ID: "EC023", Title: "Ran despite invalid input", Severity: probe.SeverityMajor, Sets: everySet, Outside: true,
		Reason: "The tool does something other than what was asked, and the caller does not notice.",
		Clause: "MCP 2025-11-25, Server Features, Tools, Security Considerations: servers MUST validate all tool inputs",
		Fix:    "Validate the arguments against the tool's schema first."},
		each: func(s *caseResult) (string, bool) {
			if s.Case.Group != probe.GroupValidation || s.Case.Expect != probe.ExpectRefusal || !s.answered() {
				return "", false
			}
			if s.reachedUpstream() {
				return "sends a request to its upstream with arguments that its own schema refuses", true
			}
			what := "accepts arguments that its own schema refuses"
			if !s.fixable() && s.Case.Name != probe.CaseArgsAbsent {
				what = "accepts arguments that are not an object"
			}
			return what, s.label() == LabelSilent || s.label() == LabelExtraAllowed
		}},
	{Rule: probe.Rule{ID: "EC034", Title: "Upstream failure swallowed", Severity: probe.SeverityCritical, Sets: everySet,
		Reason: "The service behind the tool refused the request or was down, but the tool reports success.",
		Clause: "MCP 2025-11-25, Server Features, Tools, Error Handling: API failures are tool execution errors",
		Fix:    "Check the status of every upstream response, and fail if it is an error."},
		what: "reports success although its upstream failed",
		when: func(s *caseResult) bool { return s.Case.Group == probe.GroupUpstream && s.label() == LabelSilent }},
	{Rule: probe.Rule{ID: "EC035", Title: "Upstream garbage passed on as a result", Severity: probe.SeverityCritical, Sets: agentSets,
		Reason: "A captive portal or a broken proxy answers 200 with a page; an agent takes it, or an empty result made from it, for the answer.",
		Clause: "Evidence: 57 of 159 recorded calls against an upstream that answered 200 with a page",
		Fix:    "Check the content type and the structure of upstream responses."},
		what: "passes a web page of its upstream on as an answer",
		when: func(s *caseResult) bool { return s.label() == LabelGarbage && !s.wantsPage() }},
	{Rule: probe.Rule{ID: "EC036", Title: "Invalid request accepted", Severity: probe.SeverityMinor, Sets: everySet,
		Reason: "An empty result for something that does not exist looks like an empty result for something that does.",
		Clause: "MCP 2025-11-25, Logging, Completion, Prompts, Pagination: servers SHOULD return -32602 for an invalid level, prompt or cursor; Resources: an error for one that is not found",
		Fix:    "Answer with a JSON-RPC error."},
		what: "answers CASE with a success",
		when: func(s *caseResult) bool {
			return s.Case.Group == probe.GroupProtocol && s.Case.Expect == probe.ExpectRefusal && s.label() == LabelSilent
		}},
}

// wantsPage reports whether the call asks for a web address, so that a page is a valid answer.
func (s *caseResult) wantsPage() bool { return address.Match(s.arguments().Raw()) }

var address = lazyregexp.New(`"https?:`)

// mixesFormats finds tools with several error formats. JSON-RPC errors do not count, because the protocol requires them for malformed calls.
func mixesFormats(p *subject) []hit {
	first := map[string]*caseResult{}
	var formats []string
	for _, s := range p.results {
		pattern, _ := s.pattern()
		way := string(pattern)
		if !s.reported() || pattern == probe.PatternRPC || first[way] != nil || s.facts().own != nil {
			continue
		}
		first[way] = s
		formats = append(formats, way)
	}
	if len(formats) < 2 {
		return nil
	}
	what := "reports its failures in several formats: " + strings.Join(formats, ", ")
	var out []hit
	for _, way := range formats {
		out = append(out, hit{s: first[way], what: what})
	}
	return out
}
