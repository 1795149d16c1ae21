package rules

import (
	"slices"
	"strconv"

	"github.com/candor-mcp/candor/internal/lazyregexp"
	"github.com/candor-mcp/candor/internal/probe"
)

// retryRules check the retry advice of failures.
var retryRules = []rule{
	{Rule: probe.Rule{ID: "EC012", Title: "No retry advice", Severity: probe.SeverityMajor, Sets: agentSets, Outside: true,
		Reason: "An agent gives up a call that would work in a minute, or repeats a call that is rate limited.",
		Clause: "RFC 9110, 10.2.3; evidence: 38 of 4,785 recorded failures carry any advice",
		Fix:    "Add a member that says whether the call may be retried, and after how long."},
		what: "does not say whether to retry after CASE",
		when: func(s *caseResult) bool { return s.isTemporary() && !s.facts().retry }},
	{Rule: probe.Rule{ID: "EC013", Title: "Retry delay not passed on", Severity: probe.SeverityMinor, Sets: agentSets,
		Reason: "The upstream said how long to wait, but MCP clients do not see its headers.",
		Clause: "RFC 9110, 10.2.3, Retry-After; firezone #15066: put the delay into the body",
		Fix:    "Copy Retry-After into the error, in milliseconds."},
		what: "does not pass on how long to wait",
		when: func(s *caseResult) bool {
			// A failure without any retry advice breaks EC012 instead.
			sent := s.Case.Name == probe.CaseUpstream429 && s.Hits > 0 && s.facts().retry || s.RetryAfter != ""
			return sent && s.reported() && !s.facts().delay
		}},
	{Rule: probe.Rule{ID: "EC025", Title: "Unsafe retry advice", Severity: probe.SeverityMinor, Sets: agentSets,
		Reason: "The call may have taken effect before it failed; a retry repeats the effect (two mails, two payments).",
		Clause: "MCP 2025-11-25, schema, ToolAnnotations: idempotentHint is false by default, and means something only if the tool is not read-only",
		Fix:    "Declare readOnlyHint or idempotentHint, or mark the failure as not retryable."},
		what: "marks a failure as retryable although the call may have taken effect",
		when: func(s *caseResult) bool { return s.mayHaveRun() && s.reported() && s.facts().again }},
}

// adviceOnRetry matches retry advice in prose, without a delay.
var adviceOnRetry = lazyregexp.New(`(?i)\b((re)?try(ing)?|wait)\b[^.\n]{0,40}\b(again|later|shortly|soon|a (moment|while|few)|before)\b|\b(do not|don't|please|may|can) (be )?retr(y|ied)\b`)

// isTemporary reports whether the case is a reported failure that is temporary.
func (s *caseResult) isTemporary() bool {
	return s.isRetriable() && s.Case.Name != probe.CaseUpstream500 && s.reported()
}

// mayHaveRun reports whether the call may have taken effect before it failed: the tool is not read-only and not idempotent.
func (s *caseResult) mayHaveRun() bool {
	if s.tool == nil || s.tool.IsReadOnly() || s.tool.Annotations.Idempotent != nil && *s.tool.Annotations.Idempotent {
		return false
	}
	return s.Case.Name == probe.CaseUpstream500 || s.Case.Name == probe.CaseUpstreamSlow
}

// upstreamRules check how a server uses its upstream.
var upstreamRules = []rule{
	{Rule: probe.Rule{ID: "EC037", Title: "Hidden upstream retries", Severity: probe.SeverityMinor, Sets: agentSets,
		Reason: "The agent retries as well, so attempts multiply, rate limits are reached sooner, and a change may be made twice.",
		Clause: "Evidence: recorded servers sent up to six requests for one call; PostHog #62861 slept an hour",
		Fix:    "Leave retries to the caller, or say in the error how often the request was tried."},
		across: retriesUnseen, compares: true},
}

// retriesUnseen compares the number of requests for temporary faults with that for permanent ones, because some calls need several requests.
// It finds nothing if no permanent fault was tried.
func retriesUnseen(p *subject) []hit {
	needed := 0
	for _, s := range p.results {
		if slices.Contains([]string{probe.CaseUpstream401, probe.CaseUpstream403, probe.CaseUpstream404}, s.Case.Name) {
			needed = max(needed, s.Hits)
		}
	}
	var out []hit
	for _, s := range p.results {
		if needed > 0 && s.isRetriable() && s.Hits > needed {
			out = append(out, hit{s: s, what: "sent its upstream " + strconv.Itoa(s.Hits) + " requests for one call during " + s.Case.Name})
		}
	}
	return out
}

// isRetriable reports whether the fault is temporary, so that a server may retry.
func (s *caseResult) isRetriable() bool {
	return slices.Contains([]string{probe.CaseUpstream429, probe.CaseUpstream500, probe.CaseUpstream503, probe.CaseUpstreamSlow}, s.Case.Name)
}
