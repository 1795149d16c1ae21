package judge

import (
	"github.com/candor-mcp/candor/cmd/internal/probe"
	"github.com/candor-mcp/candor/internal/lazyregexp"
)

// retryRules: whoever fails for now says so, and until when.
var retryRules = []rule{
	{Rule: probe.Rule{ID: "EC012", Title: "No word on trying again", Severity: probe.SeverityMajor, Sets: agentSets, Outside: true,
		Reason: "An agent gives up what would work in a minute, or hammers what asked for rest.",
		Clause: "RFC 9110, 10.2.3; evidence: 38 of 4,785 recorded failures carry any advice",
		Fix:    "Say in a member whether the call may be sent again, and after how long."},
		each: func(s *sight) (string, bool) {
			return "does not say whether to try again after " + s.Case.Name, s.passing() && !s.facts().retry
		}},
	{Rule: probe.Rule{ID: "EC013", Title: "Delay lost", Severity: probe.SeverityMinor, Sets: agentSets,
		Reason: "The upstream said how long to wait; clients of MCP see no headers, so what is not in the body is gone.",
		Clause: "RFC 9110, 10.2.3, Retry-After; firezone #15066: put the delay into the body",
		Fix:    "Copy Retry-After into the error, in milliseconds."},
		each: func(s *sight) (string, bool) {
			// Where nothing at all is said about trying again, the rule before this one is broken, and the delay is the least of it.
			sent := s.Case.Name == probe.CaseUpstream429 && s.Hits > 0 && s.facts().retry || s.RetryAfter != ""
			return "does not pass on how long to wait", sent && s.told() && !s.facts().delay
		}},
	{Rule: probe.Rule{ID: "EC025", Title: "May be retried, though it may have run", Severity: probe.SeverityMinor, Sets: agentSets,
		Reason: "The call may have had its effect before it failed; a second one has it twice (two mails, two payments).",
		Clause: "MCP 2025-11-25, schema, ToolAnnotations: idempotentHint is false by default, and means something only if the tool is not read-only",
		Fix:    "Declare readOnlyHint or idempotentHint, or do not call the failure retryable."},
		each: func(s *sight) (string, bool) {
			return "calls a failure retryable that may have had its effect", s.doubtful() && s.told() && s.facts().again
		}},
}

// adviceOnRetry is a word on trying again that gives no delay: it is less than a member, and more than none.
var adviceOnRetry = lazyregexp.New(`(?i)\b((re)?try(ing)?|wait)\b[^.\n]{0,40}\b(again|later|shortly|soon|a (moment|while|few)|before)\b|\b(do not|don't|please|may|can) (be )?retr(y|ied)\b`)

// passing reports a told failure that will pass by itself.
func (s *sight) passing() bool {
	switch s.Case.Name {
	case probe.CaseUpstream429, probe.CaseUpstream503, probe.CaseUpstreamSlow:
		return s.told()
	default:
		return false
	}
}

// doubtful reports a fault after which nobody knows whether a tool that changes things has changed them.
func (s *sight) doubtful() bool {
	if s.tool == nil || s.tool.IsReadOnly() || s.tool.Annotations.Idempotent != nil && *s.tool.Annotations.Idempotent {
		return false
	}
	return s.Case.Name == probe.CaseUpstream500 || s.Case.Name == probe.CaseUpstreamSlow
}
