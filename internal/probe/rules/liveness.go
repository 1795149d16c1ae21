package rules

import "github.com/candor-mcp/candor/internal/probe"

// livenessRules check that every call is answered once and in time.
var livenessRules = []rule{
	{Rule: probe.Rule{ID: "EC021", Title: "Server ends", Severity: probe.SeverityCritical, Sets: everySet, Outside: true,
		Reason: "One bad call ends the session and fails all other calls.",
		Clause: "JSON-RPC 2.0, 5: the server MUST reply with a response, except for notifications",
		Fix:    "Handle every error of a call, answer it, and continue reading after a line that is not a message."},
		what: "ends during CASE",
		when: func(s *caseResult) bool { return s.Outcome == probe.OutcomeCrash }},
	{Rule: probe.Rule{ID: "EC022", Title: "Call without an answer", Severity: probe.SeverityCritical, Sets: everySet, Outside: true,
		Reason: "The agent waits until its own timeout and learns nothing.",
		Clause: "JSON-RPC 2.0, 5: the server MUST reply with a response, except for notifications",
		Fix:    "Set a time limit for every call, and answer with an error when it is reached."},
		what: "does not answer CASE",
		when: func(s *caseResult) bool {
			hung := s.label() == LabelHang && s.Case.Group != probe.GroupUpstream
			silent := s.Outcome == probe.OutcomeNoAnswer && s.Case.Expect != probe.ExpectSilence
			return hung || silent
		}},
	{Rule: probe.Rule{ID: "EC045", Title: "Call answered twice", Severity: probe.SeverityMajor, Sets: everySet, Outside: true,
		Reason: "Some clients end the session at the second answer; others take it for the answer to a later call.",
		Clause: "JSON-RPC 2.0, 5: when a call is made, the server MUST reply with a response; one request, one response",
		Fix:    "Send nothing more for a call after its first answer, even if an error occurs later."},
		what: "answers a call more than once",
		when: func(s *caseResult) bool { return s.Extra > 0 }},
	{Rule: probe.Rule{ID: "EC046", Title: "Flood of notifications", Severity: probe.SeverityMinor, Sets: agentSets,
		Reason: "The client reads, shows or logs each of them before it reads the answer.",
		Clause: "MCP 2025-11-25, Utilities, Logging: servers SHOULD rate limit log messages; Progress: both parties SHOULD implement rate limiting to prevent flooding",
		Fix:    "Send a few notifications for a call, not one for each step."},
		what: "sends more than 100 notifications for one call",
		when: func(s *caseResult) bool { return s.Notices > maxNotices && s.Outcome == probe.OutcomeAnswered }},
	{Rule: probe.Rule{ID: "EC050", Title: "Cancellation ignored", Severity: probe.SeverityMinor, Sets: everySet, Outside: true,
		Reason: "The work continues although no client waits for it, and the answer reaches a client that has dropped the call.",
		Clause: "MCP 2025-11-25, Utilities, Cancellation: receivers SHOULD stop processing the cancelled request and not send a response for it, and MAY ignore it if it cannot be cancelled",
		Fix:    "Stop the work when notifications/cancelled names the id of the call, and do not answer it."},
		what: "continues and answers a cancelled call",
		when: func(s *caseResult) bool { return s.Kept }},
	{Rule: probe.Rule{ID: "EC051", Title: "No time limit for the upstream", Severity: probe.SeverityMinor, Sets: agentSets, Outside: true,
		Reason: "The client may give up first and then does not know what was done. The answer may come later than probe waits.",
		Clause: "MCP 2025-11-25, Lifecycle, Timeouts: implementations SHOULD establish timeouts for all sent requests",
		Fix:    "Limit each request to the upstream, and all attempts together, to less time than clients wait."},
		what: "does not answer in time during CASE",
		when: func(s *caseResult) bool { return s.label() == LabelHang && s.Case.Group == probe.GroupUpstream }},
}

// maxNotices is the number of notifications that a call may send, enough for one per percent of progress.
const maxNotices = 100
