package judge

import "github.com/candor-mcp/candor/probe"

// lifeRules: every call is answered.
var lifeRules = []rule{
	{Rule: probe.Rule{ID: "EC021", Title: "Server dies", Severity: probe.SeverityCritical, Sets: everySet, Outside: true,
		Reason: "One bad call takes all other calls with it, and the session.",
		Clause: "JSON-RPC 2.0, 5: the server MUST reply with a response, except for notifications",
		Fix:    "Catch what a call throws, answer it, and go on reading after a line that is no message."},
		each: func(s *sight) (string, bool) {
			return "ends at " + s.Case.Name, s.Outcome == probe.OutcomeCrash
		}},
	{Rule: probe.Rule{ID: "EC022", Title: "Call without an answer", Severity: probe.SeverityCritical, Sets: everySet, Outside: true,
		Reason: "The agent waits until its own patience ends, and learns nothing.",
		Clause: "JSON-RPC 2.0, 5: the server MUST reply with a response, except for notifications",
		Fix:    "Bound every call, and answer when the time is up."},
		each: func(s *sight) (string, bool) {
			hung := s.label() == LabelHang
			silent := s.Outcome == probe.OutcomeNoAnswer && s.Case.Expect != probe.ExpectSilence
			return "does not answer " + s.Case.Name, hung || silent
		}},
}
