package judge

import (
	"strconv"

	"github.com/candor-mcp/candor/cmd/internal/probe"
)

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
			hung := s.label() == LabelHang && s.Case.Group != probe.GroupUpstream
			silent := s.Outcome == probe.OutcomeNoAnswer && s.Case.Expect != probe.ExpectSilence
			return "does not answer " + s.Case.Name, hung || silent
		}},
	{Rule: probe.Rule{ID: "EC045", Title: "Call answered twice", Severity: probe.SeverityMajor, Sets: everySet, Outside: true,
		Reason: "The second answer is a protocol error to some clients, which end the session, and to others the answer to a later call.",
		Clause: "JSON-RPC 2.0, 5: when a call is made, the server MUST reply with a response; one request, one response",
		Fix:    "End the call with its first answer, also where an error is handled after something has been sent."},
		each: func(s *sight) (string, bool) {
			return "answers a call more than once", s.Extra > 0
		}},
	{Rule: probe.Rule{ID: "EC046", Title: "Flood of notifications", Severity: probe.SeverityMinor, Sets: agentSets,
		Reason: "Every one of them is read, shown or logged by the client before it comes to the answer.",
		Clause: "MCP 2025-11-25, Utilities, Logging: servers SHOULD rate limit log messages; Progress: both parties SHOULD implement rate limiting to prevent flooding",
		Fix:    "Send a few notifications for a call, not one for each step."},
		each: func(s *sight) (string, bool) {
			return "sends more than " + strconv.Itoa(maxNotices) + " notifications for one call", s.Notices > maxNotices && s.Outcome == probe.OutcomeAnswered
		}},
	{Rule: probe.Rule{ID: "EC050", Title: "Call that cannot be called off", Severity: probe.SeverityMinor, Sets: everySet, Outside: true,
		Reason: "Work goes on for nobody, and its answer comes to a client that has forgotten the call.",
		Clause: "MCP 2025-11-25, Utilities, Cancellation: receivers SHOULD stop processing the cancelled request and not send a response for it, and MAY ignore it if it cannot be cancelled",
		Fix:    "End the work of a call when notifications/cancelled names its id, and send nothing then."},
		each: func(s *sight) (string, bool) {
			return "works on after a call was called off, and answers it", s.Kept
		}},
	{Rule: probe.Rule{ID: "EC051", Title: "Caller kept waiting for the upstream", Severity: probe.SeverityMinor, Sets: agentSets, Outside: true,
		Reason: "The client may give up first, and then nobody knows what was done. How long is too long nobody has said: the answer may come later than probe waits.",
		Clause: "MCP 2025-11-25, Lifecycle, Timeouts: implementations SHOULD establish timeouts for all sent requests",
		Fix:    "Bound every request to the upstream and all attempts together, well below what clients wait for."},
		each: func(s *sight) (string, bool) {
			return "keeps its caller waiting at " + s.Case.Name, s.label() == LabelHang && s.Case.Group == probe.GroupUpstream
		}},
}

// maxNotices is how many notifications a call may well send: a step in a hundred is one percent.
const maxNotices = 100
