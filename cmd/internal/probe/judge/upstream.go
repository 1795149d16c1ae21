package judge

import (
	"strconv"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

// upstreamRules: what a server does to the service behind it.
var upstreamRules = []rule{
	{Rule: probe.Rule{ID: "EC037", Title: "Upstream asked again, unseen", Severity: probe.SeverityMinor, Sets: agentSets,
		Reason: "The agent retries, too: attempts multiply, a limit is hit sooner, and a change may be made twice.",
		Clause: "Evidence: recorded servers sent up to six requests for one call; PostHog #62861 slept an hour",
		Fix:    "Leave the retry to the caller, or say in the error how often it was tried."},
		across: retriesUnseen, compares: true},
}

// retriesUnseen compares the faults that pass with those that nobody retries: some calls need more than one request. Where there is nothing to
// compare with, nothing is known.
func retriesUnseen(p *party) []hit {
	needed := 0
	for _, s := range p.sights {
		switch s.Case.Name {
		case probe.CaseUpstream401, probe.CaseUpstream403, probe.CaseUpstream404:
			needed = max(needed, s.Hits)
		}
	}
	var out []hit
	for _, s := range p.sights {
		if needed > 0 && s.mayPass() && s.Hits > needed {
			out = append(out, hit{s: s, what: "sent its upstream " + strconv.Itoa(s.Hits) + " requests for one call at " + s.Case.Name})
		}
	}
	return out
}

// mayPass reports a fault of the upstream after which some try again by themselves.
func (s *sight) mayPass() bool {
	switch s.Case.Name {
	case probe.CaseUpstream429, probe.CaseUpstream500, probe.CaseUpstream503, probe.CaseUpstreamSlow:
		return true
	default:
		return false
	}
}
